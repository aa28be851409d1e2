package conformance

import (
	"context"
	"net"
	"os"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// reaches returns a fault in which one command gets at the host. The function
// returns what the command prints.
func reaches(command string, get func(arg string) string) wrapper {
	return runs(func(ctx context.Context, c codeinterp.Call, o *codeinterp.RunOptions, next codeinterp.Handler) (codeinterp.Reply, error) {
		if list, err := parse(c.Code); err == nil && uses(c, command+" ") {
			c.Code = toyPrograms().Print(get(list[0].args[0]))
		}
		return next(ctx, c)
	})
}

// readable returns a file's text, if its path begins in a given way.
func readable(prefix string) func(path string) string {
	return func(path string) string {
		if !strings.HasPrefix(path, prefix) {
			return ""
		}
		text, _ := os.ReadFile(path)
		return string(text)
	}
}

func reachFaults() []fault {
	return []fault{
		{name: "programs read the host's files", want: "ReachFiles", wrap: reaches("read", readable(os.TempDir())), real: true},
		{name: "programs see the host's processes", want: "ReachProcesses", wrap: reaches("read", readable("/proc/")), real: true},
		{
			name: "programs reach the host's ports", want: "ReachNetwork", real: true,
			wrap: reaches("connect", func(port string) string {
				c, err := net.Dial("tcp", "127.0.0.1:"+port)
				if err == nil {
					_ = c.Close()
				}
				return ""
			}),
		},
		{
			name: "programs signal the host's processes", want: "ReachSignals", real: true,
			wrap: reaches("kill", func(pid string) string {
				if p, err := os.FindProcess(number(pid)); err == nil {
					_ = p.Kill()
				}
				return ""
			}),
		},
	}
}
