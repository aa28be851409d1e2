package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/observe"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
	"github.com/toolcell/toolcell/shell"
)

// The arguments of the terminal tools.
var (
	argTerminalCommand = argument{
		name: "command", about: "The command line to run on the terminal, such as \"python3\" or \"vim notes.txt\". Unless given, an interactive shell.", optional: true,
		to: argCommand.to, more: codeSize, check: func(_ *kit, in *input, f *faults) string {
			_, err := codeinterp.CheckTerminal(in.command, &codeinterp.TerminalOptions{CommandOptions: codeinterp.CommandOptions{Cwd: in.cwd}})
			f.addInvalid(err)
			return ""
		},
	}
	argColumns = argument{
		name: "columns", about: "The width of the terminal: 1 to 500, 80 unless given.", optional: true,
		to:     func(in *input) any { return &in.columns },
		bounds: func(*limits) (int64, int64) { return 1, 500 },
	}
	argRows = argument{
		name: "rows", about: "The height of the terminal: 1 to 200, 24 unless given.", optional: true,
		to:     func(in *input) any { return &in.rows },
		bounds: func(*limits) (int64, int64) { return 1, 200 },
	}
	argTerminalID = argument{
		name: "terminalId", about: "The terminalId that the call starting the terminal returned.",
		to: argCommandID.to,
	}
	argText = argument{
		name: "text", about: "What to type, as it is; it does not press enter by itself.", optional: true,
		to: argStdin.to,
	}
	argKeys = argument{
		name: "keys", about: "The keys to press after the text, by their names with spaces between, such as \"enter\" or \"esc up up ctrl-c\". There are " + shell.Keys + ".", optional: true,
		to: func(in *input) any { return &in.keys },
	}
	argSince = argument{
		name: "since", about: "Return, in place of the screen, what was written since this byte: the nextOffset of a call before. A negative one counts from the end.", optional: true,
		to:     argOffset.to,
		bounds: argCommandOffset.bounds,
	}
	argSettle = argument{
		name: "waitMs", about: "How many milliseconds to wait at most until the terminal shows nothing new: 1000 unless given, 30000 at most.", optional: true,
		to:     func(in *input) any { return &in.waitMs },
		bounds: func(*limits) (int64, int64) { return 1, 30_000 },
	}
)

type terminalJSON struct {
	TerminalID string `json:"terminalId" jsonschema:"description=Names the terminal in later calls."`
	Text       string `json:"text" jsonschema:"description=The screen\\, or what was written since the given byte."`
	Row        int    `json:"row" jsonschema:"description=The line of the cursor\\, from 1."`
	Column     int    `json:"column" jsonschema:"description=The column of the cursor\\, from 1."`
	Title      string `json:"title,omitempty"`
	NextOffset int64  `json:"nextOffset" jsonschema:"description=How many bytes were written so far: since may be this."`
	Missed     int64  `json:"missed,omitempty" jsonschema:"description=How many bytes since the given one are not kept any more."`
	Running    bool   `json:"running" jsonschema:"description=It has not ended yet."`
	Status     string `json:"status,omitempty" jsonschema:"enum=ok,enum=error,enum=timeout,enum=canceled,enum=lost,enum=not_run,description=How it ended."`
	ExitCode   *int   `json:"exitCode,omitempty" jsonschema:"description=Its exit code\\, where it has ended."`
}

// String is what a model reads: a line about the terminal, then what it shows.
func (j terminalJSON) String() string {
	about := fmt.Sprintf("cursor at line %d, column %d; the next offset is %d; ", j.Row, j.Column, j.NextOffset)
	if j.Missed > 0 {
		about += fmt.Sprintf("%s before that are not kept any more; ", bytesOf(j.Missed))
	}
	return "[" + about + commandJSON{Running: j.Running, Status: j.Status, ExitCode: j.ExitCode}.state() + "]\n" + j.Text
}

// startTerminal starts a terminal, and shows it once it has come to rest.
func (k *kit) startTerminal(ctx context.Context, c toolCall) *Answer {
	o := &codeinterp.TerminalOptions{CommandOptions: *k.commandOptions(c), Size: codeinterp.TerminalSize{Columns: int(c.columns), Rows: int(c.rows)}}
	o.Timeout, o.OnOutput = 0, nil // the call ends before
	mw := observe.From(ctx, k.Secrets.Set()).Middleware(func(codeinterp.Call) observe.Event {
		return observe.Event{CallID: c.ID, Tool: c.Tool, Op: codeinterp.OpTerminal, Code: c.command}
	})
	id, err := k.shell.With(shell.View{Middlewares: []codeinterp.Middleware{mw}}).StartTerminal(ctx, c.command, o)
	if err != nil {
		return k.failed(ctx, c, err)
	}
	c.commandID = string(id)
	k.settle(ctx, c, 0)
	return k.screen(ctx, c)
}

func (k *kit) terminalInput(ctx context.Context, c toolCall) *Answer {
	typing, cancel := context.WithTimeoutCause(ctx, maxInputTime, errNotRead)
	defer cancel()
	info, err := k.shell.Info(ctx, shell.ID(c.commandID))
	if err == nil && c.stdin != "" {
		_, err = k.shell.Write(typing, shell.ID(c.commandID), []byte(c.stdin), nil)
	}
	if err == nil {
		err = k.shell.Press(typing, shell.ID(c.commandID), strings.Fields(c.keys)...)
	}
	if err != nil {
		return k.failed(ctx, c, err)
	}
	k.settle(ctx, c, info.Written)
	return k.screen(ctx, c)
}

func (k *kit) terminalScreen(ctx context.Context, c toolCall) *Answer {
	if info, err := k.shell.Info(ctx, shell.ID(c.commandID)); err == nil && c.waitMs > 0 {
		k.settle(ctx, c, info.Written)
	}
	return k.screen(ctx, c)
}

// stopTerminal ends a terminal, and shows it as it was at its end.
func (k *kit) stopTerminal(ctx context.Context, c toolCall) *Answer {
	id := shell.ID(c.commandID)
	_, err := k.shell.Screen(ctx, id) // a command without a terminal is not stopped
	if err == nil {
		_, err = k.shell.Stop(ctx, id)
	}
	if err != nil {
		return k.failed(ctx, c, err)
	}
	return k.screen(ctx, c)
}

// quiet is how long a terminal shows nothing new when it has come to rest.
const quiet = 200 * time.Millisecond

// settle waits until the terminal has written something from an offset on and has come to
// rest.
func (k *kit) settle(ctx context.Context, c toolCall, offset int64) {
	wait := time.Duration(c.waitMs) * time.Millisecond
	if wait == 0 {
		wait = time.Second
	}
	end := time.Now().Add(wait)
	for {
		soon, cancel := context.WithTimeout(ctx, wait)
		chunk, err := k.shell.Follow(soon, shell.ID(c.commandID), &shell.OutputOptions{Offset: offset})
		cancel()
		wait = min(quiet, time.Until(end))
		if offset = chunk.Next; err != nil || chunk.End || wait <= 0 {
			return
		}
	}
}

// screen answers with what the terminal shows.
func (k *kit) screen(ctx context.Context, c toolCall) *Answer {
	id := shell.ID(c.commandID)
	info, err := k.shell.Info(ctx, shell.ID(c.commandID))
	if err != nil {
		return k.failed(ctx, c, err)
	}
	st, err := k.shell.Screen(ctx, id)
	if err != nil {
		return k.failed(ctx, c, err)
	}
	j := terminalJSON{TerminalID: c.commandID, Text: st.Text(), Row: st.Row + 1, Column: st.Column + 1, Title: k.Secrets.Scrub(shorten.Head(st.Title, 100)), NextOffset: info.Written, Running: info.Running}
	if c.offset != 0 {
		chunk, err := k.shell.Output(ctx, id, &shell.OutputOptions{Offset: c.offset, Limit: int(max(c.limit, 0))})
		if err != nil {
			return k.failed(ctx, c, err)
		}
		trimRune(&chunk)
		j.Text, j.NextOffset, j.Missed = string(chunk.Data), chunk.Next, chunk.Missed
	}
	j.Text = k.Secrets.Scrub(plaintext.Clean(j.Text))
	if !info.Running {
		j.Status, j.ExitCode = string(info.Result.Status), new(info.Result.ExitCode)
	}
	r := answer(c.ID, c.Tool, j)
	r.Text = j.String()
	return r
}
