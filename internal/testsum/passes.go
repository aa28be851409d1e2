package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A name is that of a test, or of a package where test is empty.
type name struct{ pkg, test string }

// A test is what became of one, in all passes.
type test struct {
	ran    bool     // it passed or failed, in any pass
	failed bool     // in its pass's last try
	again  bool     // it failed in a try that was not the last
	why    string   // of the last skip
	parts  []string // why parts of it were skipped that ran in processes of their own
	said   string   // the last line that it logged
	score  string   // of the providers that it broke, most of them in any pass
	broke  int      // how many that were
}

// passes is what go test said, in several runs of it.
type passes struct {
	tests map[name]*test
	order []name
}

// An event is a line of what go test -json prints.
type event struct{ Action, Package, Test, Output string }

var (
	logged = regexp.MustCompile(`^\s+\w+\.go:\d+: (.*)`)
	score  = regexp.MustCompile(`\d+ of (\d+) broken providers are caught, by \d+ clauses`)
	part   = regexp.MustCompile(`^skipped: (?:\w+\.go:\d+: )?(.*)`)
)

// read takes in one pass. Tries follow one another in it.
func (p *passes) read(r io.Reader) error {
	pass := map[name]string{} // how each test ended in this pass so far
	for dec := json.NewDecoder(r); ; {
		var e event
		switch err := dec.Decode(&e); {
		case err == io.EOF:
			p.end(pass)
			return nil
		case err != nil:
			return err
		}
		if e.Package == "" {
			continue
		}
		n := name{e.Package, e.Test}
		t := p.tests[n]
		if t == nil {
			t = &test{}
			p.tests[n] = t
			p.order = append(p.order, n)
		}
		switch e.Action {
		case "output":
			t.log(e.Output)
		case "skip":
			if e.Test != "" { // else a package without tests
				t.why = t.said
			}
		case "pass", "fail":
			t.ran = true
			t.again = t.again || e.Action == "pass" && pass[n] == "fail"
			pass[n] = e.Action
		}
	}
}

// end settles what failed in a pass: only its last try counts.
func (p *passes) end(pass map[name]string) {
	for n, how := range pass {
		t := p.tests[n]
		t.failed = t.failed || how == "fail"
	}
}

// log takes a line of the output of a test.
func (t *test) log(line string) {
	m := logged.FindStringSubmatch(line)
	if m == nil {
		return
	}
	t.said = strings.TrimSpace(m[1])
	if m := score.FindStringSubmatch(t.said); m != nil {
		if n, _ := strconv.Atoi(m[1]); n >= t.broke {
			t.score, t.broke = m[0], n
		}
	}
	if m := part.FindStringSubmatch(t.said); m != nil {
		t.parts = append(t.parts, m[1])
	}
}

// String is how a test is told.
func (n name) String() string {
	if n.test == "" {
		return short(n.pkg)
	}
	return fmt.Sprintf("%s %s", short(n.pkg), n.test)
}
