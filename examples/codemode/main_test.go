package main

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"
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
