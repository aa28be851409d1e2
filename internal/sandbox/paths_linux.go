package sandbox

import (
	"path/filepath"
)

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
