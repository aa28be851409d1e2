// Command attach is killed in the middle of a run. Started again, it opens its workspace
// where it was: with the variables of its context, and all output of the run, which went on
// meanwhile.
//
//	go build -o /tmp/attach ./examples/attach
//	mkdir -m 755 /tmp/project
//	/tmp/attach /tmp/project   # is killed
//	/tmp/attach /tmp/project
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
	"github.com/toolcell/toolcell/workspace"
	"github.com/toolcell/toolcell/workspace/local"
)

const program = `import time
total = 0
for n in range(1, 11):
    total += n
    print(n, total, flush=True)
    time.sleep(0.1)
`

func main() {
	subprocess.RunKeeper() // before all else: this process may be the keeper of a context
	if len(os.Args) != 2 {
		log.Fatal("usage: attach DIRECTORY")
	}
	// For an hour after the end of this process its contexts can be attached.
	opts := &local.Options{Subprocess: subprocess.Options{Keep: &subprocess.Keep{Lease: time.Hour}}}
	file := filepath.Join(os.Args[1], "workspace.json")
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = first(os.Args[1], file, opts)
	case err == nil:
		err = second(text, file, opts)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// first stores a reference of its workspace, and does not survive its run.
func first(dir, file string, opts *local.Options) error {
	ctx := context.Background()
	ws, err := local.New("demo", dir, opts)
	if err != nil {
		return err
	}
	defer ws.Close()
	code, _ := codeinterp.Stateful(ws.Code())
	id, err := code.CreateContext(ctx, "python", nil)
	if err != nil {
		return err
	}
	ref, err := ws.Ref(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(ref)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return err
	}
	seen := 0
	_, err = code.RunInContext(ctx, id, program, &codeinterp.RunOptions{Timeout: time.Minute, OnOutput: func(o codeinterp.Output) error {
		fmt.Print(o.Text())
		if seen++; seen == 3 {
			self, _ := os.FindProcess(os.Getpid())
			return self.Kill()
		}
		return nil
	}})
	return err
}

// second opens the workspace of the process before.
func second(text []byte, file string, opts *local.Options) error {
	ctx := context.Background()
	var ref workspace.Ref
	if err := json.Unmarshal(text, &ref); err != nil {
		return err
	}
	ws, parts, err := local.Open(ctx, ref, opts)
	if err != nil {
		return err
	}
	defer ws.Close() // ends the context
	defer os.Remove(file)
	for _, p := range parts {
		fmt.Println(p.String())
	}
	id := ref.Contexts[0].ID
	attacher, _ := codeinterp.Attaches(ws.Code())
	res, err := attacher.ResumeRun(ctx, id, nil)
	if err != nil {
		return err
	}
	fmt.Printf("the run: %s\n%s", res.Status, res.Stdout())
	code, _ := codeinterp.Stateful(ws.Code())
	res, err = code.RunInContext(ctx, id, "print('total', total)", nil)
	fmt.Print(res.Stdout())
	return err
}
