package main

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// isolationLines says which fields of Describe's Isolation, each of which the
// sandbox's tests derive from attacks, a line of doctor's is made of.
var isolationLines = map[string][]string{
	"isolation": {"Backend", "User"}, "host files": {"Filesystem"}, "network": {"Network"}, "processes": {"Processes"},
	"signals": {"Signals"}, "limits": {"Memory", "CPU", "PIDs", "Disk"}, "host dies": {"HostDeath"}, "note": {"Reasons"},
}

// TestDoctorSaysWhatIsMeasured: every line about the isolation comes of fields of
// the report, and every field is in a line. None says anything of its own.
func TestDoctorSaysWhatIsMeasured(t *testing.T) {
	lines := func(i codeinterp.Isolation) map[string]string {
		var b bytes.Buffer
		printIsolation(&b, i)
		m := map[string]string{}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSpace(line)
			label := ""
			for l := range isolationLines {
				if strings.HasPrefix(line, l+" ") {
					label = l
				}
			}
			if label == "" {
				t.Errorf("a line that no attack shows: %s", line)
			}
			m[label] = strings.TrimSpace(line[len(label):])
		}
		return m
	}
	without := lines(codeinterp.Isolation{Reasons: []string{"before"}})
	told := map[string]bool{}
	for label, fields := range isolationLines {
		for _, name := range fields {
			told[name] = true
			for _, value := range []string{"open", "limited", "blocked", "watchdog", "rlimit", "none", "all", "child"} {
				i := codeinterp.Isolation{Reasons: []string{"before"}}
				f := reflect.ValueOf(&i).Elem().FieldByName(name)
				if f.Kind() == reflect.Slice {
					f.Set(reflect.ValueOf([]string{value}))
				} else {
					f.SetString(value)
				}
				for l, text := range lines(i) {
					// HostDeath has words of its own for three values.
					if changed := text != without[l]; changed != (l == label) && !(name == "HostDeath" && l == label) {
						t.Errorf("%s %q: line %q is %q, was %q", name, value, l, text, without[l])
					}
				}
			}
		}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[codeinterp.Isolation]()) {
		if !told[f.Name] {
			t.Errorf("doctor does not tell of %s", f.Name)
		}
	}
	for death, words := range map[string]string{"all": "all of the code ends", "child": "first process ends", "none": "goes on", "": "not known"} {
		if got := lines(codeinterp.Isolation{HostDeath: death, Reasons: []string{"x"}})["host dies"]; !strings.Contains(got, words) {
			t.Errorf("HostDeath %q: %s", death, got)
		}
	}
}

// TestPlainReasons: what a server has chosen of an error does not act on a terminal.
func TestPlainReasons(t *testing.T) {
	err := &codeinterp.Error{Provider: "jupyter", Op: "adopt", Err: errors.New("it has \x1b[2J\x1b]0;title\x07a\u202e kernel")}
	if got := reason(fmt.Errorf("first\n%w", err)); got != "first\nit has a kernel" {
		t.Errorf("%q", got)
	}
}
