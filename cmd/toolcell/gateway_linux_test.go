//go:build real

package main

import (
	"bufio"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestGatewayLeavesNothingBehind: the servers end with the command, however that
// ends.
func TestGatewayLeavesNothingBehind(t *testing.T) {
	file := write(t, t.TempDir(), ours(""))
	for name, end := range map[string]func(pid int, hangUp func() error){
		"end of input": func(_ int, hangUp func() error) { hangUp() },
		"SIGTERM":      func(pid int, _ func() error) { syscall.Kill(pid, syscall.SIGTERM) },
		"SIGKILL":      func(pid int, _ func() error) { syscall.Kill(pid, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, "mcp", "--tools", file)
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
			if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "protocolVersion") {
				t.Fatalf("%v: %s", err, line)
			}
			fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_code","arguments":{"language":"typescript","code":"await tools.cell_run_code({language: 'javascript', code: 'for(;;);'})"}}}`)
			family := descendants(cmd.Process.Pid)
			if len(family) == 0 {
				t.Fatal("there is no server")
			}
			end(cmd.Process.Pid, in.Close)
			cmd.Wait()
			allEnd(t, family)
		})
	}
}
