package main

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"testing"

	"github.com/toolcell/toolcell/tools"
)

func TestRun(t *testing.T) {
	if n := len(office()); n != 40 {
		t.Errorf("%d tools", n)
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^(?:40 tools|one tool) +(\d+) +(\d+) +(\d+) +(\d+)$`).FindAllStringSubmatch(out.String(), -1)
	if len(rows) != 2 {
		t.Fatalf("%s", &out)
	}
	for i := 1; i <= 4; i++ {
		many, _ := strconv.Atoi(rows[0][i])
		one, _ := strconv.Atoi(rows[1][i])
		if one >= many {
			t.Errorf("column %d: %d for one tool, %d for many\n%s", i, one, many, &out)
		}
	}
	t.Log(&out)
}

func TestTurns(t *testing.T) {
	again := func(int, []*tools.Answer) ([]tools.Invocation, string, error) {
		return []tools.Invocation{call(0, "get_calendar", input{"today"})}, "", nil
	}
	if c, err := work(context.Background(), office(), again); err != errTurns || c.turns != 10 {
		t.Errorf("%+v, %v", c, err)
	}
}
