package main

// replaceableBy trusts the access lists of Windows.
func replaceableBy(string) string { return "" }
