package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatelatch/gatelatch"
	"github.com/gatelatch/gatelatch/internal/strictjson"
	"github.com/gatelatch/gatelatch/policy/history"
)

const recorded = 100_000

// backtesting replays recorded calls, each another one, with the binary.
func backtesting(r *rig) error {
	bins, err := build(r.dir, "cmd/gatelatch")
	if err != nil {
		return err
	}
	past, rules := filepath.Join(r.dir, "history.jsonl"), filepath.Join(r.dir, "new.yaml")
	if err := errors.Join(writePast(past), os.WriteFile(rules, []byte("version: 1\nallow: ['Bash(npm run:*)', 'Read(./**)']\ndeny: ['Bash(git push:*)']\nexec: {reads: allow}\n"), 0o600)); err != nil {
		return err
	}
	start := time.Now()
	out, err := exec.Command(bins["gatelatch"], "policy", "backtest", rules, "--from", past, "--json").Output()
	if err != nil {
		return err
	}
	took := time.Since(start)
	var res struct {
		Calls int `json:"calls"`
	}
	if err := json.Unmarshal(out, &res); err != nil || res.Calls != recorded {
		return fmt.Errorf("%d calls were judged: %w", res.Calls, err)
	}
	r.most("policy backtest, 100,000 recorded calls", took.Seconds(), 10, "s")
	return nil
}

func writePast(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range recorded {
		rec, err := pastCall(i)
		if err != nil {
			return err
		}
		if err := history.Write(w, rec); err != nil {
			return err
		}
	}
	return errors.Join(w.Flush(), f.Close())
}

// pastCall is one of four kinds: a command that was asked about and allowed,
// one that was denied, one that only reads, and a file.
func pastCall(i int) (history.Record, error) {
	rec := history.Record{
		Call: fmt.Sprint("cal_", i), At: time.Unix(int64(i), 0), Kind: gatelatch.Permission, Tool: "Bash", Dir: "/srv/app", Project: "/srv/app",
		Effect: gatelatch.Ask, State: gatelatch.Allowed, By: string(gatelatch.PersonActor),
	}
	input := map[string]string{}
	switch i % 4 {
	case 0:
		input["command"] = fmt.Sprintf("npm run test -- --shard=%d", i)
	case 1:
		input["command"] = fmt.Sprintf("git push -f origin branch-%d", i)
		rec.State = gatelatch.Denied
	case 2:
		input["command"] = fmt.Sprintf("grep -rn thing%d src | head -20", i)
	default:
		rec.Tool = "Read"
		input["file_path"] = fmt.Sprintf("/srv/app/src/file%d.go", i)
	}
	var err error
	rec.Input, err = strictjson.Marshal(input)
	return rec, err
}
