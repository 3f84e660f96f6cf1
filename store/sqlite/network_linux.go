package sqlite

import (
	"fmt"
	"syscall"
)

// networks are file systems of other machines, by the magic number that statfs
// tells. SQLite shares memory beside its file, and trusts its locks and flushes.
var networks = map[uint32]string{0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2"}

func onThisMachine(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return fmt.Errorf("statfs: %w", err)
	}
	return refuse(uint32(st.Type))
}

func refuse(magic uint32) error {
	if name := networks[magic]; name != "" {
		return fmt.Errorf("this directory lies on a network file system (%s), which can lose commits: use a local disk, or PostgreSQL to share it", name)
	}
	return nil
}
