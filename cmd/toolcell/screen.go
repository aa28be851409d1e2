package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
)

// A screen shows outputs as they come: streams byte by byte where they belong,
// values and displays as text or image.
type screen struct {
	stdout, stderr io.Writer
	images         imageShower
	midLine        bool // the last byte on stdout was no newline
}

func newScreen(a *app, images string) *screen {
	return &screen{stdout: a.stdout, stderr: a.stderr, images: newImageShower(a, images)}
}

func (s *screen) show(o codeinterp.Output) error {
	switch o.Kind {
	case codeinterp.Stdout:
		if len(o.Data) > 0 {
			s.midLine = o.Data[len(o.Data)-1] != '\n'
		}
		_, err := s.stdout.Write(o.Data)
		return err
	case codeinterp.Stderr:
		_, err := s.stderr.Write(o.Data)
		return err
	case codeinterp.Display, codeinterp.Value:
		return s.bundle(&o)
	}
	return nil
}

// bundle shows the best form that a terminal can.
func (s *screen) bundle(o *codeinterp.Output) error {
	if rep, ok := o.Richest("image/png", "image/jpeg", "image/gif", "image/webp"); ok {
		return s.images.show(s, rep)
	}
	if rep, ok := o.Richest("text/plain", "text/markdown", "text/latex"); ok {
		return s.line(string(rep.Data))
	}
	if rep, ok := o.Richest(); ok {
		return s.images.show(s, rep)
	}
	return s.line(string(o.Value))
}

// line writes text on lines of its own.
func (s *screen) line(text string) error {
	if s.midLine {
		text = "\n" + text
	}
	s.midLine = false
	_, err := io.WriteString(s.stdout, strings.TrimSuffix(text, "\n")+"\n")
	return err
}

// end says how the program ended, where that is not plain from its output.
func (s *screen) end(res *codeinterp.Result) {
	if e := res.Error; e != nil {
		text := strings.Join(e.Traceback, "\n")
		if text == "" {
			text = e.Error()
		}
		fmt.Fprintln(s.stderr, strings.TrimSuffix(text, "\n"))
	}
	switch res.Status {
	case codeinterp.StatusTimeout:
		fmt.Fprintf(s.stderr, "toolcell: timed out after %v\n", res.Duration.Round(1e6))
	case codeinterp.StatusLost:
		fmt.Fprintf(s.stderr, "toolcell: the program's process was lost%s\n", cause(res))
	}
	for _, t := range res.Truncated {
		if t.Reason != codeinterp.TruncatedByLimit {
			fmt.Fprintf(s.stderr, "toolcell: some of %s is missing (%s)\n", t.Stream, t.Reason)
		}
	}
}

func cause(res *codeinterp.Result) string {
	if res.Cause == "" {
		return ""
	}
	if res.Cause == codeinterp.CauseSignal && res.ExitCode > 128 {
		return fmt.Sprintf(" (signal %d)", res.ExitCode-128)
	}
	return fmt.Sprintf(" (%s)", res.Cause)
}
