//go:build !linux

package sqlite

func onThisMachine(string) error { return nil }
