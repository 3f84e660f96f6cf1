package main

import "os"

// ofSomebodyElse trusts them, too.
func ofSomebodyElse(os.FileInfo) bool { return false }

// replaceableBy trusts the access lists of Windows.
func replaceableBy(string) string { return "" }
