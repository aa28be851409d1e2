package kernel

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
)

// spoolMax is the largest content that the spools of these tests take.
const spoolMax = 1 << 10

// spooled returns a spool that writes down what it gives.
func spooled() (*spool, *strings.Builder) {
	var got strings.Builder
	return &spool{
		max:  spoolMax,
		text: func(kind codeinterp.Kind, p []byte, late bool) { fmt.Fprintf(&got, "%v %q %v;", kind, p, late) },
		show: func(typ string, content []byte, late bool) { fmt.Fprintf(&got, "%s %s %v;", typ, content, late) },
		lost: func(kind codeinterp.Kind, n int64) { fmt.Fprintf(&got, "lost %v %d;", kind, n) },
	}, &got
}

// TestSpool: what a kernel gives comes in order, and what a program forges chooses no
// memory and is an error, or lacks at the end.
func TestSpool(t *testing.T) {
	large := strings.Repeat("x", spoolMax+1)
	for _, tt := range []struct {
		name   string
		pieces []string // NAME:TEXT, with ";" between them, as one answer each
		want   string
		failed bool
		rest   int64
	}{
		{"text", []string{"stdout:a;stderr:b", "late stdout:c;late stderr:d"}, `stdout "a" false;stderr "b" false;stdout "c" true;stderr "d" true;`, false, 0},
		{"a stream of another name", []string{"other:a"}, `stdout "a" false;`, false, 0},
		{"displays", []string{"display_data 2:{};execute_result 2:{};update_display_data 2:{}"}, `display_data {} false;execute_result {} false;update_display_data {} false;`, false, 0},
		{"in several pieces", []string{"stdout:a;display_data 5:12", "display_data 5:34;display_data 5:5;display_data 5:67890;stdout:b"},
			`stdout "a" false;display_data 12345 false;display_data 67890 false;stdout "b" false;`, false, 0},
		{"too large", []string{fmt.Sprintf("display_data %d:%s;stdout:a", spoolMax+1, large), fmt.Sprintf("execute_result %d:%s", spoolMax+1, large)},
			`lost display 1025;stdout "a" false;lost result 1025;`, false, 0},
		{"lost", []string{"lost stdout:5;lost stderr:6;lost display_data:7;lost update_display_data:8;lost execute_result:9"},
			`lost stdout 5;lost stderr 6;lost display 7;lost display 8;lost result 9;`, false, 0},
		{"a huge size", []string{"display_data 9223372036854775807:a"}, "", false, 1<<63 - 2},
		{"a size that is none", []string{"display_data 9223372036854775808:a"}, "", true, 0},
		{"a negative size", []string{"display_data -5:a"}, "", true, 0},
		{"no size", []string{"display_data :a"}, "", true, 0},
		{"size zero", []string{"display_data 0:"}, "", true, 0},
		{"empty pieces", []string{"display_data 5:"}, "", true, 5},
		{"text in between", []string{"display_data 5:12;stdout:a"}, "", true, 3},
		{"another size", []string{"display_data 5:12;display_data 3:345"}, "", true, 3},
		{"more than its size", []string{"display_data 5:123456"}, "", true, 5},
		{"a loss in between", []string{"display_data 5:12;lost stdout:5"}, "", true, 3},
		{"an unknown type", []string{"status 2:{}"}, "", true, 0},
		{"a stream with a size", []string{"stderr 2:{}"}, "", true, 0},
		{"displays that are late", []string{"late display_data 2:{};display_data 2:{};late lost stdout:5;late lost display_data:7"},
			`display_data {} true;display_data {} false;lost stdout 5;lost display 7;`, false, 0},
		{"one late, and one that is not", []string{"late display_data 2:{;display_data 2:}"}, "", true, 1},
		{"no name", []string{"a"}, "", true, 0},
		{"nothing between two", []string{"stdout:a;;stdout:b"}, `stdout "a" false;`, true, 0},
		{"a loss of none", []string{"lost stdout:-5"}, "", false, 0},
		{"a loss without number", []string{"lost stdout:x"}, "", true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, got := spooled()
			var err error
			for _, pieces := range tt.pieces {
				if _, err = s.take(inBase64(pieces)); err != nil {
					break
				}
			}
			if got.String() != tt.want || (err != nil) != tt.failed || s.rest != tt.rest {
				t.Errorf("%s, %d bytes to come, %v", got, s.rest, err)
			}
		})
	}
	s, _ := spooled()
	if n, err := s.take("stdout:not base64"); err == nil {
		t.Errorf("%d bytes of what is not base64", n)
	}
}

// TestSpoolOfMembers: a content that would take many times its size is lost.
func TestSpoolOfMembers(t *testing.T) {
	s, got := spooled()
	content := "[" + strings.Repeat("1,", 1<<18) + "1]"
	s.max = 1 << 20
	if _, err := s.take(inBase64(fmt.Sprintf("display_data %d:%s", len(content), content))); err != nil || got.String() != fmt.Sprintf("lost display %d;", len(content)) {
		t.Errorf("%.100s, %v", got, err)
	}
}

// inBase64 is pieces with their texts as a kernel sends them.
func inBase64(pieces string) string {
	list := strings.Split(pieces, ";")
	for i, piece := range list {
		if name, text, ok := strings.Cut(piece, ":"); ok && !strings.Contains(name, "lost ") {
			list[i] = name + ":" + base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	return strings.Join(list, ";")
}

// FuzzSpool: whatever a program forges, a spool holds no more than has come of one
// content that is not whole yet, and shows nothing larger than its limit.
func FuzzSpool(f *testing.F) {
	f.Add("stdout:a;display_data 5:12", "display_data 5:345;late stderr:b")
	f.Add("display_data 9223372036854775807:a", "display_data 9223372036854775807:b")
	f.Add("execute_result 2:{};lost execute_result:5", "lost stdout:-1;late display_data 1:a")
	f.Fuzz(func(t *testing.T, first, second string) {
		s, _ := spooled()
		s.show = func(typ string, content []byte, _ bool) {
			if len(content) == 0 || len(content) > spoolMax {
				t.Errorf("%s of %d bytes", typ, len(content))
			}
		}
		s.lost = func(_ codeinterp.Kind, n int64) {
			if n <= 0 {
				t.Errorf("lost %d bytes", n)
			}
		}
		for _, pieces := range []string{first, second} {
			for _, pieces := range []string{pieces, inBase64(pieces)} {
				n, err := s.take(pieces)
				if n < 0 || n > len(pieces) || s.rest < 0 || len(s.content) > spoolMax {
					t.Errorf("%d of %d bytes, %d to come, %d held, %v", n, len(pieces), s.rest, len(s.content), err)
				}
				if err != nil {
					return
				}
			}
		}
	})
}
