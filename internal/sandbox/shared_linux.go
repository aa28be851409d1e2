package sandbox

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An object is shared memory that has no name: its pages stay, whoever has them
// in his page tables, until the last mapping goes.
type object struct{ dev, ino string }

// sharedObjects adds up what the shared memory without a name holds that any of
// the processes maps, each once, and reports whether that is all.
func sharedObjects(pids []int) (bytes int64, all bool) {
	sizes := map[object]int64{}
	r := startReading()
	defer r.end()
	all = true
	for _, pid := range pids {
		all = all && addObjects(pid, r, sizes)
	}
	for _, n := range sizes {
		bytes += n
	}
	return bytes, all
}

// addObjects adds those of one process: what each holds where the host may ask
// that, else up to where it is mapped. It reports whether these are all.
func addObjects(pid int, r *reading, sizes map[object]int64) (all bool) {
	exact := map[object]bool{}
	return namelessMaps(pid, r, func(line string) bool {
		m, ok := parseShared(line)
		if !ok || exact[m.object] {
			return true
		}
		var st unix.Stat_t
		path := "/proc/" + strconv.Itoa(pid) + "/map_files/" + strconv.FormatUint(m.from, 16) + "-" + strconv.FormatUint(m.to, 16)
		if unix.Stat(path, &st) == nil && strconv.FormatUint(st.Ino, 10) == m.ino {
			exact[m.object], sizes[m.object] = true, st.Blocks*512
			return true
		}
		sizes[m.object] = max(sizes[m.object], int64(m.offset+m.to-m.from))
		return true
	})
}

// A mapping is one of an object.
type mapping struct {
	object
	from, to, offset uint64
}

// parseShared reads a line of /proc/PID/maps; false where it is none of shared
// memory without a name.
func parseShared(line string) (mapping, bool) {
	if !strings.HasSuffix(line, " (deleted)") {
		return mapping{}, false
	}
	// range, rights, offset, device, inode, path
	f := strings.Fields(line)
	if len(f) < 7 || len(f[1]) != 4 || f[1][3] != 's' || !inMemory(f[5]) {
		return mapping{}, false
	}
	from, to, _ := strings.Cut(f[0], "-")
	m := mapping{object: object{f[3], f[4]}}
	var err [3]error
	m.from, err[0] = strconv.ParseUint(from, 16, 64)
	m.to, err[1] = strconv.ParseUint(to, 16, 64)
	m.offset, err[2] = strconv.ParseUint(f[2], 16, 64)
	return m, err == [3]error{} && m.from < m.to
}

// inMemory reports whether a path in maps is that of anonymous shared memory, a
// System V segment, or what was a file of /dev/shm. Files without a name, which
// only none mode allows, are counted as what they are.
func inMemory(path string) bool {
	return path == "/dev/zero" || strings.HasPrefix(path, "/SYSV") || strings.HasPrefix(path, "/dev/shm/")
}
