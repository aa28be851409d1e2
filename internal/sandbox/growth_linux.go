package sandbox

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A machine is what the machine holds in all at one look, in bytes. Of what no
// process's figures show it is the most that programs can have taken since.
type machine struct {
	shared int64 // shared memory, files in memory and swap
	kernel int64 // 0 until it is asked for
}

func readMachine() *machine {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return &machine{}
	}
	used := uint64(info.Sharedram) + uint64(info.Totalswap) - uint64(info.Freeswap)
	return &machine{shared: int64(used) * int64(info.Unit)}
}

// kernelMemory returns what the kernel holds for itself: what is neither free nor
// any program's nor a cache. Buffers of sockets have no line of their own.
func (m *machine) kernelMemory() int64 {
	if m.kernel == 0 {
		b, _ := os.ReadFile("/proc/meminfo")
		m.kernel = kernelPart(string(b))
	}
	return m.kernel
}

func kernelPart(meminfo string) int64 {
	n := int64(0)
	for line := range strings.Lines(meminfo) {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "MemTotal":
			n += kilobytes(value)
		case "MemFree", "Buffers", "Cached", "SwapCached", "AnonPages", "SReclaimable", "PageTables":
			n -= kilobytes(value)
		}
	}
	return max(n, 0)
}

// A growth is by how much a figure of the machine's is above the least that it
// was while a tree was looked at.
type growth struct {
	seen  bool
	least int64
	by    int64
}

func (g *growth) see(now int64) {
	if !g.seen || now < g.least {
		g.seen, g.least = true, now
	}
	g.by = now - g.least
}

// see takes in what the machine holds. The kernel's part is read at a tree's first
// look, and while it does anything.
func (u *usage) see(m *machine) {
	limit := u.p.plan.limits.Memory
	if limit <= 0 || u.p.cgroup != nil {
		return
	}
	u.shared.see(m.shared)
	if !u.kernel.seen || u.active {
		u.kernel.see(m.kernelMemory())
	}
}

// hidden is the most that the tree can have in memory which its processes'
// figures do not show.
func (u *usage) hidden() int64 { return u.shared.by + u.kernel.by }
