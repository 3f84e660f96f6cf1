package hostconfig

import "fmt"

// onlyManaged makes Claude Code run the hooks of managed settings and no
// others, also with --bare, --safe-mode and "disableAllHooks".
const onlyManaged = "allowManagedHooksOnly"

// setOnly switches it on. A file that switches it off is left to who wrote that.
func setOnly(text []byte) ([]byte, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	switch v := root.member(onlyManaged); {
	case v == nil:
		return insert(text, layoutOf(text, root), root, onlyManaged, true)
	case string(v.raw(text)) != "true":
		return nil, fmt.Errorf("%q is %s: somebody wants other hooks to run, too", onlyManaged, describe(text, v))
	}
	return text, nil
}

func hasOnly(text []byte) bool {
	root, err := parse(text)
	return err == nil && root.member(onlyManaged) != nil && string(root.member(onlyManaged).raw(text)) == "true"
}

// removeOnly undoes setOnly.
func removeOnly(text []byte) ([]byte, error) {
	root, err := parse(text)
	if err != nil || !hasOnly(text) {
		return text, err
	}
	return cut(text, root, root.member(onlyManaged)), nil
}
