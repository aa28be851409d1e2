package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/mcpserver"
)

// operationFlags are the flags of "toolcell mcp" for operating a server.
type operationFlags struct {
	maxRuns   int
	queue     int
	tokenFile string
	log       string
	drain     time.Duration
}

func (f *operationFlags) register(fs *pflag.FlagSet) {
	fs.IntVar(&f.maxRuns, "max-runs", mcpserver.DefaultRuns, "the `number` of programs that run at a time, 0 for no limit")
	fs.IntVar(&f.queue, "queue", mcpserver.DefaultQueue, "the `number` of programs that wait for --max-runs; further ones are answered as busy")
	fs.StringVar(&f.log, "log", "", "log calls, sessions, faults and what the servers of --tools print, on standard error as `text` or json")
}

func (f *operationFlags) registerHTTP(fs *pflag.FlagSet) {
	fs.StringVar(&f.tokenFile, "http-token-file", "", "accept the bearer tokens in this `file`, one on each line; # begins a comment (environment: TOOLCELL_MCP_TOKEN, which is one token)")
	fs.DurationVar(&f.drain, "drain", 5*time.Second, "let calls in progress finish for this `duration` after SIGTERM")
}

func (f *operationFlags) check() error {
	switch {
	case f.maxRuns < 0 || f.queue < 0:
		return errors.New("negative --max-runs or --queue")
	case f.drain < 0:
		return fmt.Errorf("negative --drain %v", f.drain)
	case f.log != "" && f.log != "text" && f.log != "json":
		return fmt.Errorf("--log %q is neither text nor json", f.log)
	}
	return nil
}

// logger returns the logger of the flags, nil for none.
func (f *operationFlags) logger(w io.Writer) *slog.Logger {
	switch {
	case f.log == "json":
		return slog.New(slog.NewJSONHandler(w, nil))
	case f.log == "text":
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return nil
}

// tokens returns the tokens of the file and one more, if it is not empty.
func (f *operationFlags) tokens(more string) (list []string, err error) {
	if more != "" {
		list = append(list, more)
	}
	if f.tokenFile == "" {
		return list, nil
	}
	text, err := os.ReadFile(f.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("%w: --http-token-file: %w", codeinterp.ErrInvalid, err)
	}
	before := len(list)
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); strings.ContainsAny(line, " \t") {
			return nil, fmt.Errorf("%w: --http-token-file %s has a token with a space", codeinterp.ErrInvalid, f.tokenFile)
		} else if line != "" {
			list = append(list, line)
		}
	}
	if len(list) == before {
		return nil, fmt.Errorf("%w: --http-token-file %s has no token", codeinterp.ErrInvalid, f.tokenFile)
	}
	return list, nil
}
