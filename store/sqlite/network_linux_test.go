package sqlite

import (
	"testing"
)

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	if err := onThisMachine(t.TempDir()); err != nil {
		t.Errorf("a local directory: %v", err)
	}
	const nfs, smb2, ext4 = 0x6969, 0xfe534d42, 0xef53
	for magic, want := range map[uint32]bool{nfs: true, smb2: true, ext4: false} {
		if err := refuse(magic); (err != nil) != want {
			t.Errorf("file system %x: %v", magic, err)
		}
	}
}
