//go:build real && linux

package seeds

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/local"
)

func Example_commandsAndFiles() {
	capsule, done := capsule(nil)
	defer done()
	ctx := context.Background()

	// Run a command.
	result := must(capsule.Shell().Run(ctx, "echo hello", nil))
	fmt.Print(result.Stdout())

	// Write and list files.
	check(capsule.Files().Write(ctx, "app/data.txt", []byte("hello world"), nil))
	listing := must(capsule.Files().List(ctx, "app", nil))
	for _, entry := range listing.Entries {
		fmt.Println(entry.Path, entry.Type)
	}
	// Output:
	// hello
	// app/data.txt file
}

// What is async elsewhere is a goroutine here: every call is safe for concurrent use, and
// one stream has the events of all.
func Example_asyncWithEvents() {
	capsule, done := capsule(nil)
	defer done()
	var ended atomic.Int32
	stop := capsule.Subscribe(func(event workspace.Event) {
		if event.Type == workspace.TypeEnd && event.Result.OK() {
			ended.Add(1)
		}
	}, nil)
	var calls sync.WaitGroup
	for _, text := range []string{"2 + 2", "3 * 3"} {
		calls.Go(func() {
			must(capsule.Code().RunCode(context.Background(), "python", text, nil))
		})
	}
	calls.Wait()
	stop()
	fmt.Println(ended.Load(), "runs have ended")
	// Output: 2 runs have ended
}

func Example_lifecycle() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	check(os.Chmod(dir, 0o755))
	capsule := must(local.New("demo", dir, nil))
	code, _ := codeinterp.Stateful(capsule.Code())
	id := must(code.CreateContext(ctx, "python", nil))
	must(code.RunInContext(ctx, id, "x = 41", nil))

	check(capsule.Pause(ctx))
	check(capsule.Resume(ctx))
	result := must(code.RunInContext(ctx, id, "x + 1", nil))
	fmt.Println(result.Text())
	check(capsule.Close())

	// What shall outlive its host says so, with a lease.
	opts := &local.Options{Subprocess: subprocess.Options{Keep: &subprocess.Keep{Lease: time.Minute}}}
	capsule = must(local.New("demo", dir, opts))
	code, _ = codeinterp.Stateful(capsule.Code())
	id = must(code.CreateContext(ctx, "python", nil))
	must(code.RunInContext(ctx, id, "x = 41", nil))
	text := must(json.Marshal(must(capsule.Detach(ctx))))

	// Another process, later.
	var ref workspace.Ref
	check(json.Unmarshal(text, &ref))
	capsule, parts, err := local.Open(ctx, ref, opts)
	check(err)
	defer capsule.Close()
	code, _ = codeinterp.Stateful(capsule.Code())
	result = must(code.RunInContext(ctx, id, "x + 1", nil))
	fmt.Println(parts[0].State, result.Text())
	// Output:
	// 42
	// kept 42
}

func Example_pty() {
	capsule, done := capsule(nil)
	defer done()
	ctx := context.Background()
	check(capsule.Files().Write(ctx, "a.txt", []byte("hello"), nil))

	term := must(capsule.Shell().StartTerminal(ctx, "/bin/bash", nil))
	must(capsule.Shell().Write(ctx, term, []byte("ls\n"), nil))
	must(capsule.Shell().Write(ctx, term, []byte("exit\n"), nil))
	var output strings.Builder
	for event, err := range capsule.Shell().Events(ctx, term, 0) {
		check(err)
		if event.Exit != nil {
			fmt.Println("exit code", event.Exit.Result.ExitCode)
			break
		}
		output.Write(event.Data)
	}
	fmt.Println(strings.Contains(output.String(), "a.txt"))
	// Output:
	// exit code 0
	// true
}
