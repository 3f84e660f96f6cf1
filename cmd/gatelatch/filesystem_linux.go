package main

import "syscall"

// badFileSystem names the file system of a path if a database does not belong
// there: on one that is shared locks may not hold, and memory forgets.
func badFileSystem(path string) string {
	var s syscall.Statfs_t
	if syscall.Statfs(path, &s) != nil {
		return ""
	}
	return map[int64]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB", 0x01021997: "9p", 0x65735546: "FUSE",
		0x00c36400: "Ceph", 0x5346414f: "AFS", 0x0bd00bd0: "Lustre", 0x01161970: "GFS2", 0x7461636f: "OCFS2",
		0x01021994: "tmpfs", 0x858458f6: "ramfs",
	}[int64(s.Type)&0xffffffff] //nolint:unconvert // it has 32 bits elsewhere
}
