package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/forkexec"
)

// An anchors owns process groups. Each group's id is that of a child of the host that
// has ended and is not waited for, so the id cannot be taken by another process while
// the group is in use. A group whose members were all killed serves again.
type anchors struct {
	forks *forkThread

	mu     sync.Mutex
	free   []int
	all    []int
	closed bool

	keeper int      // the keeper's pid, 0 if none runs
	pipe   *os.File // its standard input
}

// keeperScript is a shell that outlives the host for a moment. It reads which process
// groups there are, and kills them at the end of its input: the host is dead. It runs no
// program, which could fail.
const keeperScript = `trap '' HUP INT TERM
groups=
while read -r op id; do
  case $op in
  group) groups="$groups $id" ;;
  gone)
    kept=
    for g in $groups; do [ "$g" = "$id" ] || kept="$kept $g"; done
    groups=$kept ;;
  end) exit ;;
  esac
done
for g in $groups; do kill -9 "-$g"; done
`

// get returns the id of an empty process group.
func (a *anchors) get() (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, codeinterp.ErrClosed
	}
	if n := len(a.free); n > 0 {
		g := a.free[n-1]
		a.free = a.free[:n-1]
		return g, nil
	}
	leader := &forkexec.Steps{} // which ends after its only step
	leader.Do(unix.SYS_SETPGID, 0, 0)
	g, err := leader.Run()
	if err != nil {
		return 0, fmt.Errorf("%w: process group: %w", codeinterp.ErrUnavailable, err)
	}
	a.all = append(a.all, g)
	if err := a.send("group", g); err != nil {
		a.free = append(a.free, g)
		return 0, fmt.Errorf("%w: keeper of processes: %w", codeinterp.ErrUnavailable, err)
	}
	return g, nil
}

// has reports whether a group is one of them.
func (a *anchors) has(g int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.all, g)
}

// adopt takes in a group that a child of the host leads.
func (a *anchors) adopt(g int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, g)
	if err := a.send("group", g); err != nil {
		return fmt.Errorf("%w: keeper of processes: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}

// drop gives up a group whose members were killed.
func (a *anchors) drop(g int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = slices.DeleteFunc(a.all, func(other int) bool { return other == g })
	_ = a.send("gone", g) // a new keeper does not know the group
}

// put gives a group back whose members were killed.
func (a *anchors) put(g int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if g != 0 {
		a.free = append(a.free, g)
	}
}

// retire gives up a group whose members were killed, and reaps them: if orphans become
// children of the host, it has to, and that reaps the anchor.
func (a *anchors) retire(g int) {
	a.drop(g)
	for wait := 100 * time.Microsecond; wait < time.Second; {
		switch pid, err := unix.Wait4(-g, nil, unix.WNOHANG, nil); {
		case err == unix.ECHILD:
			return
		case err == nil && pid == 0:
			time.Sleep(wait)
			wait *= 2
		}
	}
}

// reapsOrphans reports whether orphans of other processes become children of this one:
// it is the first of its container, or asked for them.
func reapsOrphans() bool {
	var on int32
	_, _, e := unix.Syscall(unix.SYS_PRCTL, unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0)
	return os.Getpid() == 1 || (e == 0 && on != 0)
}

// close ends the keeper and reaps the anchors, whose groups are empty.
func (a *anchors) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.endKeeper() // before the ids can be taken by others
	for _, g := range a.all {
		_ = forkexec.Reap(g, nil)
	}
	a.all, a.free = nil, nil
}

// send writes to the keeper, or starts one that knows all groups. a.mu is held.
func (a *anchors) send(op string, group int) error {
	if a.keeper != 0 {
		if _, err := a.pipe.WriteString(op + " " + strconv.Itoa(group) + "\n"); err == nil {
			return nil
		}
		a.endKeeper() // something has killed it
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return bare(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	sp := &spawn{
		path: "/bin/sh", args: []string{"sh", "-c", keeperScript}, env: environ, dir: "/",
		fds: descriptors([]*os.File{r, nil, nil}, null),
	}
	if err := a.forks.do(sp.fork); err != nil {
		w.Close()
		return err
	}
	a.keeper, a.pipe = sp.pid, w
	for _, g := range a.all {
		if _, err := fmt.Fprintf(w, "group %d\n", g); err != nil {
			return err
		}
	}
	return nil
}

// endKeeper ends the keeper at once. a.mu is held.
func (a *anchors) endKeeper() {
	if a.keeper == 0 {
		return
	}
	_ = unix.Kill(a.keeper, unix.SIGKILL)
	_ = forkexec.Reap(a.keeper, nil)
	a.pipe.Close()
	a.keeper, a.pipe = 0, nil
}
