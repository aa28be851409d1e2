package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A bind is a path that bubblewrap shows: what its descriptor names, or what
// the path leads to where there is none.
type bind struct {
	path     string
	writable bool
	held     *Dir
	fd       int
}

func (b bind) args() []string {
	flag := "--ro-bind"
	if b.writable {
		flag = "--bind"
	}
	if b.held != nil {
		return []string{flag + "-fd", strconv.Itoa(b.fd), b.path}
	}
	return []string{flag + "-try", b.path, b.path}
}

// binds returns what the caller listed, directories before what is in them.
// The descriptors are those from first on.
func (s *Sandbox) binds(pl *plan, first int) ([]bind, []*os.File) {
	var list []bind
	for _, h := range s.held {
		b := bind{path: h.path, writable: h.writable}
		if s.bindsFD {
			b.held = h.dir
		}
		list = append(list, b)
	}
	for _, path := range pl.ReadOnly {
		list = append(list, bind{path: filepath.Clean(path)})
	}
	for _, path := range pl.Writable {
		list = append(list, bind{path: filepath.Clean(path), writable: true})
	}
	if pl.Cwd != nil {
		list = append(list, bind{path: pl.Cwd.Path(), writable: true, held: pl.Cwd})
	}
	slices.SortStableFunc(list, func(a, b bind) int { return strings.Compare(a.path, b.path) })
	list = mountable(list)
	var files []*os.File
	for i, b := range list {
		if b.held != nil {
			list[i].fd = first + len(files)
			files = append(files, b.held.file)
		}
	}
	return list, files
}

// mountable leaves out what has no place to be shown at any more: a program that may
// write to a directory above it has put a link there, and bubblewrap, which follows
// none, would start nothing.
func mountable(list []bind) []bind {
	var kept []bind
	for _, b := range list {
		above := -1
		for i, a := range kept {
			if a.held != nil && strings.HasPrefix(b.path, a.path+"/") {
				above = i // the last one is the nearest
			}
		}
		if above < 0 || b.held == nil || b.hasPlace(kept[above]) {
			kept = append(kept, b)
		}
	}
	return kept
}

// hasPlace reports whether no link is on the way to b from a, which is above it;
// nor is anything else that is in the way. Links of the caller's own are left to
// bubblewrap, and all where the kernel does not tell: what is left out may be
// written.
func (b bind) hasPlace(a bind) bool {
	rest := strings.TrimPrefix(b.path, a.path)
	if b.held.path != a.held.path+rest {
		return true
	}
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(a.held.fd(), rest[1:], how)
	if err != nil {
		return err == unix.ENOSYS || err == unix.EPERM
	}
	defer unix.Close(fd)
	var there, shown unix.Stat_t
	if unix.Fstat(fd, &there) != nil || unix.Fstat(b.held.fd(), &shown) != nil {
		return false
	}
	return (there.Mode&unix.S_IFMT == unix.S_IFDIR) == (shown.Mode&unix.S_IFMT == unix.S_IFDIR)
}

// A paths lists what of the host's file system every program may read.
type paths struct {
	exec []string // read and execute
	read []string // each costs bubblewrap a mount
	bare []string // what a program needs to read that has no /dev, /proc and /sys of its own
	dev  []string // devices to read and write
}

// systemPaths returns programs, libraries and what they read, as far as they
// exist. Nothing in it tells about accounts, other programs or the network,
// unless network is set.
func systemPaths(network bool) paths {
	p := paths{
		exec: SystemDirs(),
		read: []string{
			"/etc/ld.so.cache", "/etc/alternatives", "/etc/ssl/openssl.cnf", "/etc/ssl/certs",
			"/etc/pki/tls", "/etc/pki/ca-trust", "/etc/crypto-policies",
			"/etc/localtime", "/etc/mime.types", "/etc/fonts", "/etc/matplotlibrc", "/etc/R",
		},
		bare: []string{
			"/dev/urandom", "/dev/random", "/dev/zero",
			"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems",
			"/proc/sys/kernel/osrelease", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu",
		},
		dev: []string{"/dev/null", "/dev/full"},
	}
	python, _ := filepath.Glob("/etc/python3.*")
	p.read = append(p.read, python...)
	if network {
		p.read = append(p.read, "/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf",
			"/etc/gai.conf", "/etc/services", "/etc/protocols", "/run/systemd/resolve")
	}
	return p
}
