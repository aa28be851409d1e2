package tools

import (
	"fmt"
	"math"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
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
)

func checkCommand(_ *kit, in *input, f *faults) string {
	if in.command == "" && len(*f) > 0 {
		return ""
	}
	_, err := codeinterp.CheckCommand(in.command, &codeinterp.CommandOptions{Cwd: in.cwd})
	f.addInvalid(err)
	return ""
}

// addInvalid adds what is wrong with options, if something is.
func (f *faults) addInvalid(err error) {
	if err != nil {
		f.add("%s", strings.TrimPrefix(err.Error(), codeinterp.ErrInvalid.Error()+": "))
	}
}
