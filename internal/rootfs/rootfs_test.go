//go:build unix

package rootfs_test

import (
	"os"
	"testing"

	"github.com/toolcell/toolcell/internal/filestest"
	"github.com/toolcell/toolcell/internal/rootfs"
)

// someUser is whom the files of these tests belong to where the host is root.
const someUser = 65533

// users are those as whom the tests run: the host's own, and where that is root
// another.
func users(t *testing.T) map[string]*rootfs.User {
	t.Helper()
	all := map[string]*rootfs.User{"own": nil}
	if os.Getuid() == 0 {
		all["other"] = &rootfs.User{UID: someUser, GID: someUser}
	}
	return all
}

// open makes a directory of u's, and opens it.
func open(t *testing.T, u *rootfs.User, o rootfs.Options) (*rootfs.FS, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "rootfs-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if u != nil {
		if err := os.Chown(dir, u.UID, u.GID); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.As = u
	f := rootfs.New(root, &o)
	t.Cleanup(func() { f.Close() })
	return f, dir
}

func TestFiles(t *testing.T) {
	for name, u := range users(t) {
		t.Run(name, func(t *testing.T) {
			f, _ := open(t, u, rootfs.Options{})
			filestest.Run(t, f)
			filestest.Large(t, f, 20<<20)
		})
	}
}
