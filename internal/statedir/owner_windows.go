package statedir

import "io/fs"

const noFollow = 0

// checkOwner trusts the profile directory's access list.
func checkOwner(string, fs.FileInfo) error { return nil }
