package conformance

import (
	"context"
	"net"
	"os"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// reaches returns a fault in which one command gets at the host. The function
// returns what the command prints in the place of what it would.
func reaches(command string, get func(arg string) (text string, ok bool)) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		if list, err := parse(c.Code); err == nil && uses(c, command+" ") {
			if text, ok := get(list[0].args[0]); ok {
				c.Code = toyPrograms().Print(text)
			}
		}
		return next(ctx, c)
	})
}

// readable returns a file's text, if its path begins in a given way.
func readable(prefix string) func(path string) (string, bool) {
	return func(path string) (string, bool) {
		if !strings.HasPrefix(path, prefix) {
			return "", false
		}
		text, _ := os.ReadFile(path)
		return string(text), true
	}
}

func reachFaults() []fault {
	return []fault{
		{name: "programs read the host's files", want: "ReachFiles", wrap: reaches("read", readable(os.TempDir()))},
		{name: "programs see the host's processes", want: "ReachProcesses", wrap: reaches("read", readable("/proc/"))},
		{
			name: "programs reach the host's ports", want: "ReachNetwork",
			wrap: reaches("connect", func(port string) (string, bool) {
				c, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err == nil {
					_ = c.Close()
				}
				return "", true
			}),
		},
		{
			name: "programs signal the host's processes", want: "ReachSignals", real: true,
			wrap: reaches("kill", func(pid string) (string, bool) {
				if p, err := os.FindProcess(number(pid)); err == nil {
					_ = p.Kill()
				}
				return "", true
			}),
		},
	}
}
