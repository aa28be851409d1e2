package tools_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// TestDispatchAll has calls that take a second each.
func TestDispatchAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var began []string
		slow := tools.Tool{Name: "slow", Invoke: func(_ context.Context, c tools.Invocation) *tools.Answer {
			mu.Lock()
			began = append(began, c.ID)
			mu.Unlock()
			time.Sleep(time.Second)
			if c.OnOutput != nil {
				_ = c.OnOutput(codeinterp.Output{Kind: codeinterp.Stdout, Data: []byte(c.ID)})
			}
			return &tools.Answer{CallID: c.ID, Text: "did " + c.ID}
		}}
		set, err := tools.NewSet([]tools.Tool{slow}, nil)
		if err != nil {
			t.Fatal(err)
		}
		calls := []tools.Invocation{
			{ID: "a1", Tool: "slow", Args: []byte(`{"contextId":"a"}`)}, {ID: "b1", Tool: "slow", Args: []byte(`{"contextId":"b"}`)},
			{ID: "a2", Tool: "slow", Args: []byte(`"{\"contextId\":\"a\"}"`)}, {ID: "-", Tool: "slow", Args: []byte(`{"contextId":`)},
			{ID: "a3", Tool: "slow", Args: []byte(`{"contextId":"a"}`)}, {ID: "?", Tool: "unknown", Args: nil}, {ID: "--", Tool: "slow", Args: nil},
		}
		var outputs, ended []string
		start := time.Now()
		replies := set.DispatchAll(t.Context(), calls, &tools.TurnOptions{
			OnOutput: func(c tools.Invocation, o codeinterp.Output) error {
				mu.Lock()
				defer mu.Unlock()
				outputs = append(outputs, c.ID+"="+o.Text())
				return nil
			},
			OnAnswer: func(r *tools.Answer) { ended = append(ended, r.CallID) },
		})
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %v, want the three seconds of context a", took)
		}
		for i, r := range replies {
			if r.CallID != calls[i].ID {
				t.Errorf("reply %d is to %q, want %q", i, r.CallID, calls[i].ID)
			}
		}
		if replies[5].Failure == nil || replies[5].Failure.Code != tools.CodeUnknownTool {
			t.Errorf("the unknown tool has %+v", replies[5])
		}
		inA := slices.DeleteFunc(slices.Clone(began), func(id string) bool { return !strings.HasPrefix(id, "a") })
		if fmt.Sprint(inA) != "[a1 a2 a3]" {
			t.Errorf("context a served %v", inA)
		}
		if slices.Sort(outputs); fmt.Sprint(outputs) != "[--=-- -=- a1=a1 a2=a2 a3=a3 b1=b1]" {
			t.Errorf("outputs %v", outputs)
		}
		if len(ended) != len(calls) || ended[0] != "?" || ended[len(ended)-1] != "a3" {
			t.Errorf("replies came in the order %v", ended)
		}
		if n := len(set.DispatchAll(t.Context(), nil, nil)); n != 0 {
			t.Errorf("%d replies to no calls", n)
		}
	})
}
