package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/procfs"
)

// account looks for what the file system has lost and no walk has found: files of
// the program's without a name, or those that it moves while it is walked, for which
// it is stopped for the time of a walk. It reports whether it has ended the program.
func (u *usage) account(pids []int, dev uint64, base walked, unseen int64) bool {
	pl := u.p.plan
	if hides(pids, dev) {
		u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: files without a name; %d MiB more in use, limit %d MiB", unseen>>20, pl.limits.Disk>>20))
		return true
	}
	u.p.hold()
	now, _ := measure(pl.Workdir, pl.limits.beyond(base))
	u.p.letGo()
	if bytes := now.bytes - base.bytes; bytes > pl.limits.Disk {
		u.tooMuch(bytes)
		return true
	}
	return false
}

func (u *usage) tooMuch(bytes int64) {
	u.p.stop(codeinterp.CauseDisk, fmt.Sprintf("disk: more than %d MiB in use, limit %d MiB", bytes>>20, u.p.plan.limits.Disk>>20))
}

// hides reports whether any of the processes holds files of the file system
// dev where no walk finds them and nobody tells their size: mapped files
// without a name, descriptors that are in flight on a socket, and files that only a
// system call under way has. Where there is too much to be looked at, it is so.
func hides(pids []int, dev uint64) bool {
	r := startReading()
	defer r.end()
	for _, pid := range pids {
		if mapsNameless(pid, dev, r) || inFlight(pid, r) || sends(pid, r) {
			return true
		}
	}
	return false
}

// mapsNameless reports whether a process maps a file of dev without a name.
func mapsNameless(pid int, dev uint64, r *reading) (found bool) {
	want := strconv.FormatUint(uint64(unix.Major(dev)), 16) + ":" + strconv.FormatUint(uint64(unix.Minor(dev)), 16)
	all := namelessMaps(pid, r, func(line string) bool {
		// range, rights, offset, device, inode, path
		fields := strings.Fields(line)
		found = len(fields) > 5 && trimDev(fields[3]) == want
		return !found
	})
	return found || !all
}

// trimDev takes the leading zeros off a device number such as 08:01.
func trimDev(s string) string {
	major, minor, _ := strings.Cut(s, ":")
	trim := func(s string) string {
		if s = strings.TrimLeft(s, "0"); s == "" {
			return "0"
		}
		return s
	}
	return trim(major) + ":" + trim(minor)
}

// inFlight reports whether descriptors wait to be received on one of a
// process's sockets.
func inFlight(pid int, r *reading) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	f, err := os.Open(dir + "/fd")
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	for _, name := range names {
		if r.over() {
			return true
		}
		var st unix.Stat_t
		if unix.Stat(dir+"/fd/"+name, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
			continue
		}
		if carries(pid, name) {
			return true
		}
	}
	return false
}

// carries reports whether descriptors wait to be received on a process's socket.
func carries(pid int, fd string) bool {
	b, _ := procfs.File(pid, "fdinfo/"+fd)
	_, rest, found := strings.Cut(string(b), "scm_fds:")
	n, _, _ := strings.Cut(rest, "\n")
	return found && strings.TrimSpace(n) != "0"
}

// fsUsed returns how much of a directory's file system is in use, and its
// device number.
func fsUsed(dir string) (bytes int64, dev uint64) {
	var fs unix.Statfs_t
	var st unix.Stat_t
	if unix.Statfs(dir, &fs) != nil || unix.Stat(dir, &st) != nil {
		return 0, 0
	}
	return int64(fs.Blocks-fs.Bfree) * int64(fs.Bsize), uint64(st.Dev)
}
