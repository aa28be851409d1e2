package sandbox

import (
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// filesBudget bounds one look at the descriptors of a tree. Where it does not
// suffice, every look sees others of its processes.
const filesBudget = 250 * time.Millisecond

// clockTick is by how much the time of a file can be behind the clock.
const clockTick = 20 * time.Millisecond

// A nameless is a file that has no name any more but is held open, so that no
// walk through a directory finds it. memory tells that it is in memory.
type nameless struct {
	dev, ino uint64
	bytes    int64
	memory   bool
}

// namelessFiles lists those that a process holds open, as far as it comes.
func namelessFiles(pid int, end time.Time) []nameless {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var list []nameless
	for i, name := range names {
		if i%64 == 63 && time.Now().After(end) {
			break
		}
		if f, ok := namelessAt(dir + "/" + name); ok {
			list = append(list, f)
		}
	}
	return list
}

// namelessAt looks at one.
func namelessAt(path string) (nameless, bool) {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 0 || st.Blocks == 0 {
		return nameless{}, false
	}
	var fs unix.Statfs_t
	memory := unix.Statfs(path, &fs) == nil && fs.Type == unix.TMPFS_MAGIC
	return nameless{uint64(st.Dev), st.Ino, st.Blocks * 512, memory}, true
}

// executed adds what the processes execute of files without a name that were made
// since: an interpreter can have been replaced while they run.
func executed(pids []int, since time.Time, files map[nameless]bool) {
	for _, pid := range pids {
		path := "/proc/" + strconv.Itoa(pid) + "/exe"
		f, ok := namelessAt(path)
		if !ok {
			continue
		}
		var st unix.Statx_t
		err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st)
		made := time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)+int64(clockTick))
		if err != nil || st.Mask&unix.STATX_BTIME == 0 || made.After(since) {
			files[f] = true
		}
	}
}

// namelessOf collects the nameless files that any of the processes holds open.
func namelessOf(pids []int, budget time.Duration) map[nameless]bool {
	end := time.Now().Add(budget)
	seen := map[nameless]bool{}
	for _, i := range rand.Perm(len(pids)) {
		for _, f := range namelessFiles(pids[i], end) {
			seen[f] = true
		}
		if time.Now().After(end) {
			break
		}
	}
	return seen
}
