package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gatelatch/gatelatch/policy"
)

// judging compares one judgement with those of cedar-go and OPA, which are
// asked the same by a program of their own module.
func judging(r *rig) error {
	if err := r.loading(); err != nil {
		return err
	}
	cmd := exec.Command("go", "run", "-C", "bench/rivals", ".")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run it from the project's folder: %w", err)
	}
	type figure struct {
		Engine string
		Rules  int
		Micros float64
		Allocs float64
	}
	of := map[string]map[int]figure{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var f figure
		if err := dec.Decode(&f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if of[f.Engine] == nil {
			of[f.Engine] = map[int]figure{}
		}
		of[f.Engine][f.Rules] = f
		note(fmt.Sprintf("%s, %d rules, its slowest question", f.Engine, f.Rules), f.Micros, fmt.Sprintf("µs, %.0f allocations", f.Allocs))
	}
	ours := of["gatelatch"]
	r.most("one judgement, 1,000 rules", ours[1000].Micros, 2, "µs")
	r.most("allocations of one", ours[1000].Allocs, 2, "")
	r.most("10,000 rules by 1,000", ours[10000].Micros/ours[1000].Micros, 1.5, "×")
	for _, rival := range []string{"cedar-go", "opa"} {
		r.most("gatelatch by "+rival+", 1,000 rules", ours[1000].Micros/of[rival][1000].Micros, 1, "×")
	}
	return nil
}

// loading reads and checks many rules.
func (r *rig) loading() error {
	var text strings.Builder
	text.WriteString("version: 1\nallow:\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "  - Bash(tool%d run:*)\n  - rule: Read(./folder%d/**)\n    match: [folder%d/x]\n", i, i, i)
	}
	start := time.Now()
	set, err := policy.Parse("policy.yaml", []byte(text.String()))
	if err != nil {
		return err
	}
	if n := len(set.Rules()); n != 10000 {
		return fmt.Errorf("%d rules were read", n)
	}
	r.most("load and check 10,000 rules", float64(time.Since(start).Milliseconds()), 300, "ms")
	return nil
}
