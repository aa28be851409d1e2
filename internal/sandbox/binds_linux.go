package sandbox

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A bind is a path that bubblewrap shows: what dir holds, or what the path leads to if
// dir is nil.
type bind struct {
	path     string
	writable bool
	dir      *Dir
	fd       int
}

func (b bind) args() []string {
	flag := "--ro-bind"
	if b.writable {
		flag = "--bind"
	}
	if b.dir != nil {
		return []string{flag + "-fd", strconv.Itoa(b.fd), b.path}
	}
	return []string{flag + "-try", b.path, b.path}
}

// binds returns what the caller listed, directories before what is in them.
func (s *Sandbox) binds(pl *plan) []bind {
	var list []bind
	for _, l := range s.listed {
		list = append(list, bind{path: l.path, writable: l.writable, dir: l.dir})
	}
	for _, path := range pl.ReadOnly {
		list = append(list, bind{path: filepath.Clean(path)})
	}
	for _, path := range pl.Writable {
		list = append(list, bind{path: filepath.Clean(path), writable: true})
	}
	if pl.Cwd != nil {
		list = append(list, bind{path: pl.Cwd.Path(), writable: true, dir: pl.Cwd})
	}
	slices.SortStableFunc(list, func(a, b bind) int { return strings.Compare(a.path, b.path) })
	return list
}

// A paths lists what of the host's file system every program may read.
type paths struct {
	exec []string // read and execute
	read []string // each costs bubblewrap a mount
	bare []string // what a program needs to read that has no /dev, /proc and /sys of its own
	dev  []string // devices to read and write
}

// systemPaths returns programs, libraries and what they read, as far as they
// exist. Nothing in it reveals accounts, other programs or the network,
// unless network is set.
func systemPaths(network bool) paths {
	p := paths{
		exec: SystemDirs(),
		read: []string{
			"/etc/ld.so.cache", "/etc/alternatives", "/etc/debian_version", "/etc/ssl/openssl.cnf", "/etc/ssl/certs",
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
