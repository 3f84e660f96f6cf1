//go:build !linux

package hookcmd

func hosted() bool { return false }
