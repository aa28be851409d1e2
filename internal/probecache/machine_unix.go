//go:build unix

package probecache

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// machineFiles say what the kernel lets this process do.
var machineFiles = []string{
	"/proc/sys/kernel/random/boot_id", "/proc/sys/kernel/unprivileged_userns_clone", "/proc/sys/user/max_user_namespaces",
	"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "/proc/self/attr/current", "/proc/self/cgroup", "/proc/self/limits",
}

// Machine names what probes of isolation depend on: the boot, the kernel's settings,
// and this command with its user, rights, limits and namespaces.
func Machine() string {
	var b strings.Builder
	for _, file := range machineFiles {
		text, _ := os.ReadFile(file)
		fmt.Fprintf(&b, "%s\n", text)
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		name, _, _ := strings.Cut(line, ":")
		switch name {
		case "Umask", "Uid", "Gid", "Groups", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Cpus_allowed":
			b.WriteString(line)
		}
	}
	for _, ns := range []string{"user", "mnt", "pid", "net"} {
		link, _ := os.Readlink("/proc/self/ns/" + ns)
		b.WriteString(link + "\n")
	}
	exe, _ := os.Executable()
	fmt.Fprintf(&b, "%s %s %d", exe, Stamp(exe), os.Geteuid())
	return b.String()
}

// private reports whether only the user can write to a directory.
func private(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// Stamp changes when a file does. It is empty for a file that does not exist.
func Stamp(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d %d %d %d %o %d", st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano(), st.Mode, st.Uid)
}
