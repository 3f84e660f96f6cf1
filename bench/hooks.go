package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/internal/statedir"
)

// hooks times the real hook against the real gateway, for a call that policy
// allows: judged, committed, audited.
func hooks(dir string, n int, commit sample) error {
	bins, err := build(dir)
	if err != nil {
		return err
	}
	state, stop, err := serve(dir, bins["gatelatch"])
	if err != nil {
		return err
	}
	defer stop()
	// One after the other, so that whatever else the machine does hits all.
	runs, err := sideBySide(n,
		func(int) error { return exec.Command(bins["hello"]).Run() },
		func(i int) error { return oneHook("gatelatch-hook", bins["gatelatch-hook"], state, dir, i) },
		func(i int) error { return oneHook("gatelatch hook", bins["gatelatch"], state, dir, i) },
	)
	if err != nil {
		return err
	}
	hello := runs[0]
	hello.print("a Go process that says hello")
	goal := 4*hello.p50() + commit.p50()
	for i, name := range []string{"gatelatch-hook", "gatelatch hook"} {
		s := runs[i+1]
		s.print(name + ", a call that policy allows")
		fmt.Printf("%58s %.2f × hello; 4 × hello + one commit is %.3f ms: %s\n", "=", ms(s.p50())/ms(hello.p50()), ms(goal), verdict(s.p50() <= goal))
	}
	return nil
}

func verdict(ok bool) string {
	if ok {
		return "within"
	}
	return "over"
}

func build(dir string) (map[string]string, error) {
	bins := map[string]string{}
	for _, pkg := range []string{"bench/hello", "cmd/gatelatch", "cmd/gatelatch-hook"} {
		name := filepath.Base(pkg)
		bins[name] = filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", bins[name], "github.com/gatelatch/gatelatch/"+pkg)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", pkg, err, out)
		}
	}
	return bins, nil
}

func serve(dir, bin string) (statedir.Dir, func(), error) {
	state := statedir.Dir(filepath.Join(dir, "state"))
	cmd := exec.Command(bin, "serve", "--json", "--listen", "127.0.0.1:0", "--state", string(state), "--config", filepath.Join(dir, "config"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it prints once it serves
		return "", nil, fmt.Errorf("the gateway did not start: %w", err)
	}
	return state, func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }, nil
}

func oneHook(name, bin string, state statedir.Dir, dir string, i int) error {
	args := []string{"claude", "--state", string(state), "--limit", "60"}
	if name == "gatelatch hook" {
		args = append([]string{"hook"}, args...)
	}
	cmd := exec.Command(bin, args...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"bench","cwd":%q,"prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"pwd"},"tool_use_id":"%s_%d_%d"}`,
		dir, strings.ReplaceAll(name, " ", "_"), os.Getpid(), time.Now().UnixNano()+int64(i)))
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	if !bytes.Contains(out, []byte(`"permissionDecision":"allow"`)) {
		return fmt.Errorf("%s answered %s", name, out)
	}
	return nil
}
