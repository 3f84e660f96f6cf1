package main

import (
	"fmt"

	"github.com/gatelatch/gatelatch/internal/hostconfig"
	"github.com/gatelatch/gatelatch/policy"
	"github.com/gatelatch/gatelatch/policy/review"
	"github.com/spf13/cobra"
)

// mergeRules adds rules to the user's file, after check had no objection, the
// change was shown and somebody said yes. Without a file the built-in rules are
// what they are added to: a file takes their place.
func mergeRules(cmd *cobra.Command, sys system, rules *rulesFlags, w writing, blocks map[string]string, check func(*policy.Set) error) error {
	path, err := rules.path()
	if err != nil {
		return err
	}
	f, err := readSettings(path)
	if err != nil {
		return err
	}
	before := f.data
	if before == nil {
		before = []byte(policy.Open(path).Text())
	}
	after, err := review.Merge(before, blocks)
	if err != nil {
		return withHint(err, "copy the rules into "+path+" by hand")
	}
	if string(after) == string(before) {
		fmt.Fprintln(w.talk(cmd), "There is nothing to add.")
		return nil
	}
	if check != nil {
		set, err := policy.Parse("policy.yaml", after)
		if err != nil {
			return err
		}
		if err := check(set); err != nil {
			return err
		}
	}
	return w.applyRules(cmd, sys, f, after)
}

// applyRules writes a policy.yaml, and says so.
func (w *writing) applyRules(cmd *cobra.Command, sys system, f settingsFile, text []byte) error {
	if err := w.apply(cmd, sys, f, hostconfig.Change{Settings: text}); err != nil || w.dryRun {
		return err
	}
	_, err := fmt.Fprintln(w.talk(cmd), "Written. A gateway that runs takes it up within a moment.")
	return err
}
