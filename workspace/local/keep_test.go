//go:build linux && real

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/keeper"
	"github.com/toolcell/toolcell/internal/leftover"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/local"
)

func init() {
	if len(os.Args) == 4 && os.Args[0] == hostName {
		runHost = func() {
			fmt.Fprintln(os.Stderr, host(context.Background(), os.Args[1], os.Args[2], os.Args[3]))
			os.Exit(1)
		}
	}
}

const (
	hostName  = "toolcell-local-host" // is the first argument of hosts
	keptSpool = 64 << 10
)

func keepOptions(lease time.Duration) *local.Options {
	return &local.Options{Subprocess: subprocess.Options{Sandbox: subprocess.Sandbox{Mode: subprocess.Landlock}, Languages: []subprocess.Language{subprocess.Bash()},
		Keep: &subprocess.Keep{Lease: lease, Spool: keptSpool}}}
}

// host starts a command in the background, prints the reference of its workspace once the
// command has printed something, and kills itself once that was more than is kept.
func host(ctx context.Context, dir, lease, command string) error {
	d, err := time.ParseDuration(lease)
	if err != nil {
		return err
	}
	ws, err := local.New("demo", dir, keepOptions(d))
	if err != nil {
		return err
	}
	id, err := ws.Shell().Start(ctx, command, nil)
	if err != nil {
		return err
	}
	for e, err := range ws.Shell().Events(ctx, id, 0) {
		if err != nil || e.Exit != nil {
			return fmt.Errorf("%+v, %w", e.Exit, err)
		}
		if e.Next < 2*keptSpool && !strings.Contains(command, "beat") {
			continue
		}
		ref, err := ws.Ref(ctx)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(ref)
		}
		if err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return nil
}

// killed runs a host to its end, and returns the reference of its workspace.
func killed(t *testing.T, lease time.Duration, command string) (ref workspace.Ref) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.WaitDelay = 10 * time.Second // of what holds its output
	cmd.Args = []string{hostName, leftover.Dir(t), lease.String(), command}
	cmd.Stderr = os.Stderr
	out, _ := cmd.Output()
	if err := json.Unmarshal(out, &ref); err != nil || len(ref.Commands) != 1 || ref.Commands[0].Ref == "" {
		t.Fatalf("%s, %v", out, err)
	}
	return ref
}

// openKept opens the workspace of a host that was killed.
func openKept(t *testing.T, ref workspace.Ref) (*workspace.Workspace, workspace.Part) {
	t.Helper()
	ws, parts, err := local.Open(t.Context(), ref, keepOptions(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws, parts[0]
}

// keepers are the keepers there are.
func keepers(t *testing.T) []int {
	dir, err := keeper.Open(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	return dir.Keepers("*")
}

// TestKeptCommand: a command in the background goes on without its host, which was killed
// while it printed. The next process reads on where the first one was, knows how much is not
// kept, gives it input and gets its exit code; nothing is left then.
func TestKeptCommand(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	const lines = 40_000
	var all strings.Builder
	for n := range lines {
		fmt.Fprintln(&all, "line", n)
	}
	want := all.String() + "got some\n"
	ref := killed(t, time.Minute, fmt.Sprintf("for ((n = 0; n < %d; n++)); do echo line $n; done; read x; echo got $x; exit 7", lines))
	ws, part := openKept(t, ref)
	id := part.Command.ID
	if part.State != workspace.Kept || part.Err != nil || id != ref.Commands[0].ID {
		t.Fatalf("%v, %v", part.String(), part.Err)
	}
	if answer := ws.Dispatch(t.Context(), "workspace__demo__run_command", []byte(`{"command": "true"}`), nil).Text; !strings.Contains(answer, string(id)+` ("for ((n`) || !strings.Contains(answer, "): kept.") {
		t.Errorf("the first answer: %s", answer)
	}
	if _, err := ws.Shell().Write(t.Context(), id, []byte("some\n"), nil); err != nil {
		t.Error(err)
	}
	var missed int64
	for e, err := range ws.Shell().Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if missed += e.Missed; string(e.Data) != want[e.Offset:e.Next] && e.Exit == nil {
			t.Fatalf("%d to %d is not what was printed there", e.Offset, e.Next)
		}
		if e.Exit != nil && (e.Exit.Result.ExitCode != 7 || e.Exit.Result.Status != codeinterp.StatusError || e.Exit.Written != int64(len(want)) || e.Exit.Err != nil) {
			t.Errorf("%+v; %d bytes were printed", e.Exit, len(want))
		}
	}
	if missed < keptSpool {
		t.Errorf("%d bytes are not kept", missed)
	}
	if list := keepers(t); len(list) > 0 {
		t.Errorf("left: %+v", list)
	}
}

// TestKeptCommandStops: a command that outlived its host is stopped, handed on and ends with
// its lease; what is no command is none.
func TestKeptCommandStops(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	const beat = "while sleep 0.05; do echo beat; done"
	ref := killed(t, time.Minute, beat)
	ws, part := openKept(t, ref)
	// Another process cannot take it meanwhile.
	_, other := openKept(t, ref)
	if other.State != workspace.Gone || !errors.Is(other.Err, codeinterp.ErrCapacity) {
		t.Errorf("%v, %v", other.State, other.Err)
	}
	next := part.Command.ID
	var err error
	if ref, err = ws.Detach(t.Context()); err != nil || len(ref.Commands) != 1 || ref.Commands[0].ID != next {
		t.Fatalf("%+v, %v", ref, err)
	}
	if ws, part = openKept(t, ref); part.State != workspace.Kept {
		t.Fatalf("%v, %v", part.State, part.Err)
	}
	if info, err := ws.Shell().Stop(t.Context(), next); err != nil || info.Running || info.Result.Cause != codeinterp.CauseInterrupt {
		t.Errorf("%+v, %v", info, err)
	}
	if chunk, err := ws.Shell().Output(t.Context(), next, nil); err != nil || !chunk.End || chunk.Missed > 0 || strings.Trim(string(chunk.Data), "beat\n") != "" {
		t.Errorf("%+v, %v", chunk, err)
	}
	if _, part = openKept(t, ref); part.State != workspace.Gone || !errors.Is(part.Err, codeinterp.ErrContext) {
		t.Errorf("%v, %v", part.State, part.Err)
	}
	ref.Commands[0].Ref = codeinterp.Ref(strings.Replace(string(ref.Commands[0].Ref), "command-", "context-", 1))
	if _, part = openKept(t, ref); part.State != workspace.Gone || !errors.Is(part.Err, codeinterp.ErrInvalid) {
		t.Errorf("%v, %v", part.State, part.Err)
	}

	ref = killed(t, 300*time.Millisecond, beat)
	for end := time.Now().Add(time.Minute); len(keepers(t)) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it goes on after its lease")
		}
	}
	if _, part := openKept(t, ref); part.State != workspace.Gone || !errors.Is(part.Err, codeinterp.ErrContext) {
		t.Errorf("%v, %v", part.State, part.Err)
	}
}
