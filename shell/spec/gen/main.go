// Command gen writes the tables of package shell from spec/*.yaml.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen: "+err.Error())
		os.Exit(1)
	}
}

// run reads the specs below dir/spec and writes the tables into dir.
func run(dir string) error {
	files, err := load(filepath.Join(dir, "spec"))
	if err != nil {
		return err
	}
	vars, err := loadVariables(filepath.Join(dir, "spec", "gen", "variables.yaml"))
	if err != nil {
		return err
	}
	table, err := render(files, vars)
	if err != nil {
		return err
	}
	examples, err := renderExamples(files)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"spectable.go": table, "spectable_test.go": examples} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}
