package mcpserver_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/toolcell/toolcell/mcpserver"
	"github.com/toolcell/toolcell/tools"
	"github.com/toolcell/toolcell/workspace"
)

// asServer makes the test binary a server over standard input and output.
const asServer = "TOOLCELL_TEST_MCP_SERVER"

// everything offers all tools there are.
var everything = tools.Options{ManageContexts: true, ReadOutput: true}

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "" {
		os.Exit(m.Run())
	}
	ws, err := workspace.New("demo", workspace.Capabilities{Code: newFake()}, &workspace.Options{Tools: everything})
	if err != nil {
		panic(err)
	}
	s, err := mcpserver.New(ws, nil)
	if err == nil {
		err = s.ServeStream(context.Background(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
