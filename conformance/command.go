package conformance

import (
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// commandChecks are about commands of a shell. They concern providers that have
// codeinterp.Commands. Their lines are such as every shell reads.
func commandChecks() []check {
	return []check{
		{
			name:   "CommandEnds",
			clause: "a command that fails is a Result with its exit code, and its streams are kept apart",
			run: commanding(func(run commandFunc) {
				res, err := run("echo out; echo err >&2; exit 3", codeinterp.RunOptions{})
				wantStatus(res, err, codeinterp.StatusError, 3)
				wantText("stdout", res.Stdout(), "out\n")
				wantText("stderr", res.Stderr(), "err\n")
			}),
		},
		{
			name:   "CommandInput",
			clause: "a command reads Stdin or Input, and the end of its input where there is neither",
			run: commanding(func(run commandFunc) {
				run.prints("cat", codeinterp.RunOptions{Stdin: []byte(SplitText)}, SplitText)
				run.prints("cat", codeinterp.RunOptions{Input: strings.NewReader(SplitText)}, SplitText)
				run.prints("cat", codeinterp.RunOptions{}, "")
			}),
		},
		{
			name:   "CommandTimeout",
			clause: "a command that reaches its Timeout is a Result with status timeout",
			run: commanding(func(run commandFunc) {
				res, err := run("sleep 600", codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
				wantStatus(res, err, codeinterp.StatusTimeout, codeinterp.ExitTimeout)
			}),
		},
		{
			name: "CommandChildren", needs: []Feature{Children},
			clause: "what a command left running in the background does not hold it up, and is gone when it has returned",
			run: commanding(func(run commandFunc) {
				arg := sleepArg()
				run.prints("sleep "+arg+" & echo on", codeinterp.RunOptions{}, "on\n")
				allGone(arg)
			}),
		},
	}
}

// A commandFunc runs a command of a shell, watched.
type commandFunc func(line string, o codeinterp.RunOptions) (codeinterp.Result, error)

// commanding makes a check one of providers that run commands.
func commanding(check func(commandFunc)) func(*env) {
	return func(e *env) {
		sh, ok := codeinterp.Commands(e.ci)
		if !ok {
			return
		}
		check(func(line string, o codeinterp.RunOptions) (codeinterp.Result, error) {
			return e.watch(line, &o, "", func(run *codeinterp.RunOptions) (codeinterp.Result, error) {
				return sh.RunCommand(e.ctx, line, &codeinterp.CommandOptions{RunOptions: *run})
			})
		})
	}
}

// prints wants a command to end normally, and to have printed a text.
func (run commandFunc) prints(line string, o codeinterp.RunOptions, want string) {
	res, err := run(line, o)
	wantOK(res, err)
	wantText("stdout of "+quote(line), res.Stdout(), want)
}
