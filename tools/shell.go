package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/shell"
)

// ForShell returns the tools for the commands of a workspace, in a fixed order. opts
// may be nil. Commands are bounded, cut, scrubbed and reported like runs. A command in
// the background belongs to the client of a server that started it.
func ForShell(workspace string, s *shell.Shell, opts *Options) ([]Tool, error) {
	own := s.With(shell.View{Owner: callers.Of, Middlewares: []codeinterp.Middleware{unchanged}})
	return (&kit{shell: own}).toolsFor(workspace, s.Describe(), opts)
}

// unchanged is a middleware that does nothing. With it, starts of runs are reported
// when they pass the other middlewares.
func unchanged(next codeinterp.Handler) codeinterp.Handler { return next }

type startedJSON struct {
	CommandID string `json:"commandId" jsonschema:"description=Names the command in later calls."`
}

type commandJSON struct {
	CommandID string `json:"commandId"`
	Command   string `json:"command"`
	Cwd       string `json:"cwd,omitempty"`
	Started   string `json:"started" jsonschema:"format=date-time"`
	Running   bool   `json:"running" jsonschema:"description=It has not ended yet."`
	Status    string `json:"status,omitempty" jsonschema:"enum=ok,enum=error,enum=timeout,enum=canceled,enum=lost,enum=not_run,description=How it ended."`
	ExitCode  *int   `json:"exitCode,omitempty" jsonschema:"description=Its exit code\\, where it has ended."`
	Written   int64  `json:"written" jsonschema:"description=How many bytes of output it has written."`
}

type commandsJSON struct {
	Commands []commandJSON `json:"commands" jsonschema:"description=The commands in the background\\, oldest first\\, also those that ended recently."`
}

type commandOutputJSON struct {
	Text       string `json:"text" jsonschema:"description=What it wrote\\, both streams in their order."`
	Offset     int64  `json:"offset" jsonschema:"description=The byte that the text starts at."`
	NextOffset int64  `json:"nextOffset" jsonschema:"description=The byte to go on from."`
	Missed     int64  `json:"missed,omitempty" jsonschema:"description=How many bytes before offset are not kept any more."`
	commandJSON
}

type writtenInputJSON struct {
	Bytes int `json:"bytes" jsonschema:"description=How many bytes were taken."`
}

// commandEvent returns the event of a command.
func (k *kit) commandEvent(c toolCall) observe.Event {
	return observe.Event{CallID: c.ID, Tool: c.Tool, Op: codeinterp.OpCommand, Code: c.command}
}

func (k *kit) commandOptions(c toolCall) *codeinterp.CommandOptions {
	o := &codeinterp.CommandOptions{RunOptions: k.runOptions(c, false), Cwd: c.cwd}
	if c.stdin != "" {
		o.Stdin = []byte(c.stdin)
	}
	return o
}

func (k *kit) runCommand(ctx context.Context, c toolCall) *Answer {
	o := k.commandOptions(c)
	res, err := observe.From(ctx, k.Secrets.Set()).Run(ctx, k.commandEvent(c), o.RunOptions, func(ctx context.Context, run *codeinterp.RunOptions) (codeinterp.Result, error) {
		o.RunOptions = *run
		return k.shell.Run(ctx, c.command, o)
	})
	return k.reply(ctx, c, func() string { return "" }, res, err)
}

// startCommand starts a command whose time is its own, unless the call sets one.
func (k *kit) startCommand(ctx context.Context, c toolCall) *Answer {
	o := k.commandOptions(c)
	if c.timeoutMs == 0 {
		o.Timeout = 0
	}
	o.OnOutput = nil // the call ends before
	mw := observe.From(ctx, k.Secrets.Set()).Middleware(func(codeinterp.Call) observe.Event { return k.commandEvent(c) })
	id, err := k.shell.With(shell.View{Middlewares: []codeinterp.Middleware{mw}}).Start(ctx, c.command, o)
	if err != nil {
		return k.failed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, startedJSON{string(id)})
}

func (k *kit) commandOutput(ctx context.Context, c toolCall) *Answer {
	soon, cancel := context.WithTimeout(ctx, time.Duration(c.waitMs)*time.Millisecond)
	defer cancel()
	id, part := shell.ID(c.commandID), &shell.OutputOptions{Offset: c.offset, Limit: int(max(c.limit, 0))}
	chunk, err := k.shell.Follow(soon, id, part)
	// The end of the wait is not an error.
	if soon.Err() != nil && ctx.Err() == nil {
		chunk, err = k.shell.Output(ctx, id, part)
	}
	var info shell.Info
	if err == nil {
		info, err = k.shell.Info(ctx, id)
	}
	if err != nil {
		return k.failed(ctx, c, err)
	}
	if !chunk.End {
		info.Running = true // there may be more than was read
	}
	trimRune(&chunk)
	j := commandOutputJSON{Text: k.Secrets.Scrub(plaintext.Clean(string(chunk.Data))), Offset: chunk.Offset, NextOffset: chunk.Next, Missed: chunk.Missed, commandJSON: k.commandJSON(info)}
	r := answer(c.ID, c.Tool, j)
	r.Text = j.String()
	return r
}

// trimRune leaves an incomplete character to the next chunk.
func trimRune(c *shell.Chunk) {
	for n := 1; n < utf8.UTFMax && n < len(c.Data) && !c.End; n++ {
		if tail := c.Data[len(c.Data)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				c.Data, c.Next = c.Data[:len(c.Data)-n], c.Next-int64(n)
			}
			return
		}
	}
}

// String is what a model reads: a line about the page, then the page.
func (j commandOutputJSON) String() string {
	about := fmt.Sprintf("bytes %d to %d; the next offset is %d; ", j.Offset, j.NextOffset, j.NextOffset)
	if j.Missed > 0 {
		about += fmt.Sprintf("%s before that are not kept any more; ", bytesOf(j.Missed))
	}
	return "[" + about + j.state() + "]\n" + j.Text
}

func (j commandJSON) state() string {
	if j.Running {
		return "it is still running"
	}
	return fmt.Sprintf("it has ended: %s, exit code %d", j.Status, *j.ExitCode)
}

func (k *kit) commandJSON(i shell.Info) commandJSON {
	j := commandJSON{
		CommandID: string(i.ID), Command: k.Secrets.Scrub(shorten.Head(i.Command, 1<<10)), Cwd: k.Secrets.Scrub(i.Cwd),
		Started: stamp(i.Started), Running: i.Running, Written: i.Written,
	}
	if !i.Running {
		j.Status, j.ExitCode = string(i.Result.Status), new(i.Result.ExitCode)
	}
	return j
}

func (k *kit) commandInput(ctx context.Context, c toolCall) *Answer {
	ctx, cancel := context.WithTimeoutCause(ctx, maxInputTime, errNotRead)
	defer cancel()
	n, err := k.shell.Write(ctx, shell.ID(c.commandID), []byte(c.stdin), &shell.WriteOptions{Close: c.last})
	// If some of it was taken, the model has to know how much, to send the rest.
	if err != nil && (n == 0 || !errors.Is(err, errNotRead)) {
		return k.failed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, writtenInputJSON{n})
}

// maxInputTime is how long input waits for a command that does not read.
const maxInputTime = 5 * time.Second

var errNotRead = fmt.Errorf("%w: the command does not read its input", codeinterp.ErrCapacity)

func (k *kit) stopCommand(ctx context.Context, c toolCall) *Answer {
	info, err := k.shell.Stop(ctx, shell.ID(c.commandID))
	if err != nil {
		return k.failed(ctx, c, err)
	}
	return answer(c.ID, c.Tool, k.commandJSON(info))
}

func (k *kit) listCommands(ctx context.Context, c toolCall) *Answer {
	list, err := k.shell.List(ctx)
	if err != nil {
		return k.failed(ctx, c, err)
	}
	j := commandsJSON{make([]commandJSON, 0, len(list))}
	for _, i := range list {
		j.Commands = append(j.Commands, k.commandJSON(i))
	}
	return answer(c.ID, c.Tool, j)
}

// shellFact says where commands start.
func shellFact(k *kit, info codeinterp.Info) string {
	if k.shell == nil || info.Workdir == "" {
		return ""
	}
	return "Commands start in the directory " + info.Workdir + "; cwd is relative to it."
}

// startFact says what to do about a command that is to go on.
func startFact(k *kit) string {
	if !hasBackground(k) {
		return ""
	}
	return ": use " + k.name("start_command") + " for what is to go on"
}

// serverFact says who reaches a server that a command starts.
func serverFact(k *kit, info codeinterp.Info) string {
	if !hasBackground(k) || info.Isolation.Network != codeinterp.ReachBlocked {
		return ""
	}
	return "A server that a command starts is reached from within that command at most: no other call reaches it, on localhost neither."
}

// found names the interpreters that commands find.
func (f *facts) found() string {
	var names []string
	paths := map[string]bool{}
	for _, l := range f.info.Languages {
		// A language without a path, such as a kernel's, may not be on PATH. Of
		// languages that share an interpreter, only the first is named.
		if l.Path == "" || paths[l.Path] {
			continue
		}
		paths[l.Path] = true
		if runtime := runtimeOf(&l); runtime != "" {
			names = append(names, runtime)
		}
	}
	if names == nil {
		return ""
	}
	return "Among others there are " + strings.Join(names, ", ") + "."
}
