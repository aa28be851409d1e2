package main

import (
	"strings"
	"testing"
)

// events writes what go test -json would say of a package, in few words: an
// action, a test, and a line of its output, if any.
func events(pkg, lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(f) < 2 {
			continue
		}
		test := strings.Trim(f[1], "-")
		b.WriteString(`{"Action":"` + f[0] + `","Package":"` + pkg + `","Test":"` + test + `"`)
		if len(f) > 2 {
			b.WriteString(`,"Output":"    ` + f[2] + `\n"`)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func TestReport(t *testing.T) {
	const m = "github.com/toolcell/toolcell/"
	for _, tt := range []struct {
		name   string
		passes []string
		want   string
		failed bool
	}{
		{name: "all is well", passes: []string{events(m+"a", "pass TestA\npass -")}, want: `
skipped: 0 tests, for 0 reasons

no test failed
`},
		{name: "scores", passes: []string{
			events(m+"a", "output TestA a_test.go:3: 4 of 4 broken providers are caught, by 3 clauses: map[X:2]\npass TestA"),
			events(m+"a", "output TestA a_test.go:3: 2 of 2 broken providers are caught, by 2 clauses: map[X:2]\npass TestA")}, want: `
skipped: 0 tests, for 0 reasons

a TestA: 4 of 4 broken providers are caught, by 3 clauses

no test failed
`},
		{name: "skipped", passes: []string{events(m+"a", `
			output TestA/x a_test.go:3: no node
			skip TestA/x
			output TestA/y a_test.go:3: no node
			skip TestA/y
			pass TestA
			output TestB b_test.go:7: tried at night
			skip TestB
			pass -`) + events(m+"b", `
			output TestC a_test.go:4: no node
			skip TestC
			pass -`) + events(m+"c", "skip -")}, want: `
skipped: 4 tests, for 2 reasons
  no node
      a TestA/x and 1 more
      b TestC
  tried at night
      a TestB

no test failed
`},
		{name: "another pass tries it", passes: []string{
			events(m+"a", "output TestA a_test.go:3: it is slow\nskip TestA\npass -"),
			events(m+"a", "pass TestA\npass -")}, want: `
skipped: 0 tests, for 0 reasons

no test failed
`},
		{name: "skipped in a process of its own", passes: []string{events(m+"a", `
			output TestA a_test.go:9: skipped: b_test.go:3: no bwrap
			pass TestA`)}, want: `
skipped: 0 tests, for 1 reasons
  no bwrap
      a TestA

no test failed
`},
		{name: "second try", passes: []string{events(m+"a", `
			fail TestA/x
			fail TestA
			fail -
			pass TestA/x
			pass TestA
			pass -`)}, want: `
skipped: 0 tests, for 0 reasons

passed at a second try only
  a TestA/x

no test failed
`},
		{name: "failed", failed: true, passes: []string{
			events(m+"a", "fail TestA/x\nfail TestA\nfail -\nfail TestA/x\nfail TestA\nfail -") + events(m+"b", "fail -"),
			events(m+"a", "pass TestA/x\npass TestA\npass -")}, want: `
skipped: 0 tests, for 0 reasons

FAILED
  a TestA/x
  b
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := &passes{tests: map[name]*test{}}
			for _, p := range tt.passes {
				if err := all.read(strings.NewReader(p)); err != nil {
					t.Fatal(err)
				}
			}
			if got, failed := all.report(); got != tt.want || failed != tt.failed {
				t.Errorf("failed %v, want %v, got\n%s\nwant\n%s", failed, tt.failed, got, tt.want)
			}
		})
	}
}

func TestReadWantsEvents(t *testing.T) {
	all := &passes{tests: map[name]*test{}}
	if err := all.read(strings.NewReader(`{"Action":`)); err == nil {
		t.Error("half an event is none")
	}
}
