package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A cgroups is a delegated cgroup v2 directory, in which every tree gets a
// subdirectory of its own; see the kernel's cgroup-v2 document.
type cgroups struct {
	dir  string
	made bool // by newCgroups, to be removed
	next atomic.Int64
}

// newCgroups takes the directory that the caller gave, which must work, or
// looks for one, and returns nil if there is none.
func newCgroups(given string) (*cgroups, error) {
	if given != "" {
		c := &cgroups{dir: given}
		return c, c.enable()
	}
	parent := delegated()
	if parent == "" {
		return nil, nil
	}
	// It was not asked for, so that a failure here leaves the limits to the
	// watchdog.
	dir, err := os.MkdirTemp(parent, "toolcell-")
	if err != nil {
		return nil, nil
	}
	c := &cgroups{dir: dir, made: true}
	if c.enable() != nil {
		os.Remove(dir)
		return nil, nil
	}
	return c, nil
}

// enable passes the controllers on to subdirectories.
func (c *cgroups) enable() error {
	b, err := os.ReadFile(filepath.Join(c.dir, "cgroup.controllers"))
	if err != nil {
		return fmt.Errorf("not a cgroup v2 directory: %w", bare(err))
	}
	if have := strings.Fields(string(b)); !slices.Contains(have, "memory") || !slices.Contains(have, "pids") {
		return errors.New("the cgroup has no memory and pids controllers; delegate them (systemd: Delegate=yes)")
	}
	if err := os.WriteFile(filepath.Join(c.dir, "cgroup.subtree_control"), []byte("+memory +pids"), 0o644); err != nil {
		return fmt.Errorf("cgroup.subtree_control: %w", bare(err))
	}
	return nil
}

// cgroupMount is where the file system of cgroups is mounted.
const cgroupMount = "/sys/fs/cgroup"

// delegated returns the parent of this process's cgroup if that belongs to its user, who
// is not root, and passes on the controllers. It is the parent's, since a cgroup with
// processes in it can pass on none (cgroup-v2, "No Internal Process Constraint").
func delegated() string {
	b, _ := os.ReadFile("/proc/self/cgroup")
	_, own, ok := strings.Cut("\n"+string(b), "\n0::")
	own, _, _ = strings.Cut(own, "\n")
	if os.Getuid() == 0 || !ok || own == "/" {
		return ""
	}
	parent := filepath.Dir(filepath.Join(cgroupMount, own))
	info, err := os.Stat(parent)
	if err != nil {
		return ""
	}
	b, _ = os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	have := strings.Fields(string(b))
	if st, ok := sysStat(info); !ok || int(st.Uid) != os.Getuid() || !slices.Contains(have, "memory") || !slices.Contains(have, "pids") {
		return ""
	}
	return parent
}

func (c *cgroups) close() {
	if c != nil && c.made {
		_ = os.Remove(c.dir)
	}
}

// A cgroup is the directory of one tree.
type cgroup struct{ dir string }

// new makes a cgroup with the limits.
func (c *cgroups) new(l Limits) (*cgroup, error) {
	g := &cgroup{filepath.Join(c.dir, fmt.Sprintf("run-%d-%d", os.Getpid(), c.next.Add(1)))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("cgroup: %w", bare(err))
	}
	set := func(name string, v int64) error {
		if v <= 0 {
			return nil
		}
		return g.write(name, strconv.FormatInt(v, 10))
	}
	err := errors.Join(set("memory.max", l.Memory), set("pids.max", int64(l.Processes)+1))
	if err != nil {
		_ = os.Remove(g.dir)
		return nil, err
	}
	// Neither need be there: a kernel may be built without swap, and oom.group came
	// in 4.19.
	_ = g.write("memory.swap.max", "0")
	_ = g.write("memory.oom.group", "1")
	return g, nil
}

func (g *cgroup) write(name, value string) error {
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(value), 0o644); err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	return nil
}

// attach moves a process in; what it starts from then on is in too.
func (g *cgroup) attach(pid int) error { return g.write("cgroup.procs", strconv.Itoa(pid)) }

// kill ends every process in it.
func (g *cgroup) kill() { _ = g.write("cgroup.kill", "1") }

// outOfMemory reports whether the kernel killed for memory.max.
func (g *cgroup) outOfMemory() bool {
	b, _ := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	for line := range strings.Lines(string(b)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// remove removes it as soon as the killed processes are gone.
func (g *cgroup) remove() {
	for wait := 100 * time.Microsecond; wait < time.Second; wait *= 2 {
		// rmdir is EBUSY as long as a killed process is still ending.
		if err := os.Remove(g.dir); err == nil || os.IsNotExist(err) {
			return
		}
		time.Sleep(wait)
	}
}
