//go:build unix && real

package awk_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
	"github.com/toolcell/toolcell/examples/awk"
)

func Example() {
	ci := awk.NewStateful()
	defer ci.Close()
	ctx := context.Background()
	id, err := ci.CreateContext(ctx, "awk", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = ci.RunInContext(ctx, id, `{ n += $2; print > "lines" } END { print n > "sum" }`,
		&codeinterp.RunOptions{Stdin: []byte("apples 3\npears 4\n")})
	if err != nil {
		fmt.Println(err)
	}
	res, err := ci.RunInContext(ctx, id, `BEGIN { getline n < "sum"; print n " pieces of fruit" }`, &codeinterp.RunOptions{Timeout: time.Minute})
	fmt.Print(res.Stdout())
	fmt.Println(res.Status, err)
	// Output:
	// 7 pieces of fruit
	// ok <nil>
}

// TestConformance is all that proves a provider.
func TestConformance(t *testing.T) {
	if _, err := exec.LookPath("awk"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cfg := conformance.Config{
		New:      func() (codeinterp.CodeInterpreter, error) { return awk.NewStateful(), nil },
		Stateful: true,
		Timeout:  2 * time.Minute,
		Patience: 30 * time.Second,
		Programs: map[string]conformance.Programs{"awk": programs()},
		Lacks:    []conformance.Feature{conformance.Values, conformance.Displays, conformance.DisplayUpdates, conformance.LateOutput, conformance.ErrorLine, conformance.MissingModule},
	}
	t.Run("contexts", func(t *testing.T) { conformance.Run(t, cfg) })
	cfg.New, cfg.Stateful = func() (codeinterp.CodeInterpreter, error) { return awk.New(), nil }, false
	t.Run("no contexts", func(t *testing.T) { conformance.Run(t, cfg) })
}
