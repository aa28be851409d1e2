package mcptools_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// scripted is a server whose tool puts out lines before its answer, or does something
// else that is in its arguments. Its list of tools may be in the environment.
func scripted() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct {
					Do    string
					Lines []string
				}
			}
		}
		json.Unmarshal(in.Bytes(), &r)
		if page := os.Getenv("MCPTOOLS_LIST"); page != "" && r.Method == "tools/list" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, page)
			continue
		} else if result := firstResult(in.Bytes()); result != "" {
			fmt.Println(result)
			continue
		}
		switch r.Params.Arguments.Do {
		case "leave": // a child behind, which has its pipes and is not in its group
			child := exec.Command("setsid", "sh", "-c", "echo >&2; exec sleep 600")
			child.Stdin, child.Stdout = os.Stdin, os.Stdout
			started, _ := child.StderrPipe()
			child.Start()
			started.Read(make([]byte, 1))
			fmt.Fprintln(os.Stderr, child.Process.Pid)
			os.Exit(1)
		case "pid":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%d"}]}}`+"\n", r.ID, os.Getpid())
			continue
		}
		for _, l := range r.Params.Arguments.Lines {
			fmt.Println(l)
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"fine"}]}}`+"\n", r.ID)
	}
}
