//go:build !linux

package main

func badFileSystem(string) string { return "" }
