package sandbox

import (
	"bufio"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxSharedMaps bounds what is read of one process's mappings: as many as the
// kernel allows are some 6 MiB.
const maxSharedMaps = 16 << 20

// An object is shared memory that has no name: its pages stay, whoever has them
// in his page tables, until the last mapping goes.
type object struct{ dev, ino string }

// sharedObjects adds up what the shared memory without a name holds that any of
// the processes maps, each once.
func sharedObjects(pids []int) int64 {
	sizes := map[object]int64{}
	end := time.Now().Add(filesBudget)
	for _, i := range rand.Perm(len(pids)) {
		addObjects(pids[i], sizes)
		if time.Now().After(end) {
			break
		}
	}
	total := int64(0)
	for _, n := range sizes {
		total += n
	}
	return total
}

// addObjects adds those of one process: what each holds where the host may ask
// that, else up to where it is mapped.
func addObjects(pid int, sizes map[object]int64) {
	dir := "/proc/" + strconv.Itoa(pid)
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return
	}
	defer f.Close()
	exact := map[object]bool{}
	for sc := bufio.NewScanner(io.LimitReader(f, maxSharedMaps)); sc.Scan(); {
		m, ok := parseShared(sc.Text())
		if !ok || exact[m.object] {
			continue
		}
		var st unix.Stat_t
		path := dir + "/map_files/" + strconv.FormatUint(m.from, 16) + "-" + strconv.FormatUint(m.to, 16)
		if unix.Stat(path, &st) == nil && strconv.FormatUint(st.Ino, 10) == m.ino {
			exact[m.object], sizes[m.object] = true, st.Blocks*512
			continue
		}
		sizes[m.object] = max(sizes[m.object], int64(m.offset+m.to-m.from))
	}
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
