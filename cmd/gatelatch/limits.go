package main

import (
	"fmt"

	"github.com/gatelatch/gatelatch"
)

// limitsConfig is limits in config.yaml. What is left out is the default.
type limitsConfig struct {
	Input *int `yaml:"input_mib"`
}

const mib = 1 << 20

func (c limitsConfig) check() error {
	if c.Input != nil && (*c.Input < gatelatch.MaxInput/mib || *c.Input > gatelatch.MostInput/mib) {
		return withHint(fmt.Errorf("limits.input_mib is %d", *c.Input), fmt.Sprintf("an input has %d to %d MiB", gatelatch.MaxInput/mib, gatelatch.MostInput/mib))
	}
	return nil
}

// input is the limit in bytes, 0 for the default.
func (c limitsConfig) input() int {
	if c.Input == nil {
		return 0
	}
	return *c.Input * mib
}
