package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/sandbox/forkexec"
)

// keeperScript reads which process groups there are, and kills them at the end of its
// input: the host is dead. It runs no program, which could fail.
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

// A keeper is a shell that outlives the host for a moment, to end what the host
// cannot end any more. It is out of reach of programs where their signals are
// limited at all.
type keeper struct {
	forks *forkThread

	mu     sync.Mutex
	groups map[int]struct{}
	pid    int // 0 if it does not run
	pipe   *os.File
	closed bool
}

// sendTimeout bounds one message to the keeper, which a program in none mode can
// stop.
const sendTimeout = time.Second

// add names a process group that is in use from now on.
func (k *keeper) add(group int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.groups == nil {
		k.groups = map[int]struct{}{}
	}
	k.groups[group] = struct{}{}
	return k.send("group " + strconv.Itoa(group) + "\n")
}

// remove takes back a group before its id can be another's.
func (k *keeper) remove(group int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	// Whatever comes of sending it: another keeper is not to know the group.
	delete(k.groups, group)
	if k.pid != 0 {
		_ = k.send("gone " + strconv.Itoa(group) + "\n")
	}
}

// send writes to the keeper, or starts another one, which gets to know all
// groups. k.mu is held.
func (k *keeper) send(line string) error {
	if k.closed {
		return codeinterp.ErrClosed
	}
	if k.pid != 0 {
		_ = k.pipe.SetWriteDeadline(time.Now().Add(sendTimeout))
		// A program in none mode may have stopped or killed it: then another one is
		// started.
		if _, err := k.pipe.WriteString(line); err == nil {
			return nil
		}
		k.end()
	}
	if err := k.start(); err != nil {
		k.end()
		return fmt.Errorf("%w: keeper of processes: %w", codeinterp.ErrUnavailable, err)
	}
	return nil
}

// start runs a keeper. k.mu is held.
func (k *keeper) start() error {
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
	if !k.forks.do(func() { err = sp.fork() }) {
		err = codeinterp.ErrClosed
	}
	if err != nil {
		w.Close()
		return err
	}
	if sp.pidfd >= 0 {
		unix.Close(sp.pidfd)
	}
	k.pid, k.pipe = sp.pid, w
	// The one before may have been killed by a program, with all it knew.
	for g := range k.groups {
		_ = w.SetWriteDeadline(time.Now().Add(sendTimeout))
		if _, err := fmt.Fprintf(w, "group %d\n", g); err != nil {
			return err
		}
	}
	return nil
}

// end ends the keeper at once. k.mu is held.
func (k *keeper) end() {
	if k.pid == 0 {
		return
	}
	_ = unix.Kill(k.pid, unix.SIGKILL)
	_ = forkexec.Reap(k.pid, nil)
	k.pipe.Close()
	k.pid, k.pipe = 0, nil
}

// close ends the keeper, whose groups are empty.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.end()
}
