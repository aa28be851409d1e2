package tools

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/shorten"
)

// The arguments of the shell tools.
var (
	argCommand = argument{
		name: "command", about: "The command line, or a script of several lines, for bash.",
		to: func(in *input) any { return &in.command }, more: codeSize, check: checkCommand,
	}
	argCwd = argument{
		name: "cwd", about: "The directory to run it in. Unless given, the one where commands start.", optional: true,
		to: func(in *input) any { return &in.cwd },
	}
	argEnv = argument{
		name: "env", about: "Variables of its environment, each as NAME=VALUE, beside those that commands have.", optional: true,
		to: func(in *input) any { return &in.env }, check: checkEnv,
	}
	argStdin = argument{
		name: "stdin", about: "What it reads from its standard input.", optional: true,
		to: func(in *input) any { return &in.stdin },
	}
	argCommandTimeout = argument{
		name: "timeoutMs", optional: true, unit: " milliseconds",
		to: argTimeout.to, bounds: argTimeout.bounds,
		more: func(l *limits) string {
			return fmt.Sprintf("After how many milliseconds the command is stopped: 1 to %d. Unless given, it runs until it ends or is stopped.", l.maxTimeout)
		},
	}
	argCommandID = argument{
		name: "commandId", about: "The commandId that the call starting the command returned.",
		to: func(in *input) any { return &in.commandID },
	}
	argCommandOffset = argument{
		name: "offset", about: "The byte to start at: 0 unless given, then the nextOffset of the call before. A negative one counts from the end: -2000 is the last 2000 bytes.", optional: true,
		to:     argOffset.to,
		bounds: func(*limits) (int64, int64) { return -math.MaxInt32, math.MaxInt64 },
	}
	argWait = argument{
		name: "waitMs", about: "How many milliseconds to wait for more, or for its end, where there is nothing new: 0 unless given, 30000 at most.", optional: true,
		to:     func(in *input) any { return &in.waitMs },
		bounds: func(*limits) (int64, int64) { return 0, 30_000 },
	}
	argInput = argument{
		name: "input", about: "What to write, as it is: most programs want a newline at the end.",
		to: argStdin.to,
	}
	argLast = argument{
		name: "close", about: "End its input afterwards. False unless given.", optional: true,
		to: func(in *input) any { return &in.last },
	}
	argSignal = argument{
		name: "signal", about: "Send this signal to the command and all that it started, and do not wait. Unless given, it is ended: with TERM, and after two seconds by force.", optional: true,
		to: func(in *input) any { return &in.signal },
		enum: func(*limits) (names []string) {
			for _, s := range codeinterp.Signals() {
				names = append(names, string(s))
			}
			return names
		},
	}
)

func checkCommand(_ *kit, in *input, f *faults) string {
	if in.command == "" && len(*f) > 0 {
		return ""
	}
	if _, err := codeinterp.CheckCommand(in.command, &codeinterp.CommandOptions{Cwd: in.cwd}); err != nil {
		f.add("%s", strings.TrimPrefix(err.Error(), codeinterp.ErrInvalid.Error()+": "))
	}
	return ""
}

func checkEnv(_ *kit, in *input, f *faults) string {
	seen := map[string]bool{}
	for _, pair := range in.env {
		name, _, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			f.add("env: need NAME=VALUE, got %s", shorten.Head(strconv.Quote(pair), 60))
		case seen[name]:
			f.add("env: %s is given more than once", shorten.Head(strconv.Quote(name), 60))
		}
		seen[name] = true
	}
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Env: environ(in.env)}); err != nil {
		f.add("env: %s", strings.TrimPrefix(err.Error(), codeinterp.ErrInvalid.Error()+": "))
	}
	return ""
}

// environ returns variables that are given as NAME=VALUE.
func environ(pairs []string) map[string]string {
	if len(pairs) == 0 {
		return nil
	}
	env := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}
