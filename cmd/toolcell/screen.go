package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/lossnote"
)

// A screen shows outputs as they come: streams as they are, values and displays as text or
// image.
type screen struct {
	stdout, stderr io.Writer
	images         imageShower
	file           bool // show no values but images, as python FILE does
	midLine        bool // the last byte on stdout was no newline

	seen    [codeinterp.Clear + 1]int64 // bytes of a stream, or number of displays
	cleared bool
	err     error // the first failure to show something
}

func newScreen(a *app, images imageShower) *screen {
	return &screen{stdout: a.stdout, stderr: a.stderr, images: images}
}

// live shows an output of a running program.
func (s *screen) live(o codeinterp.Output) error {
	switch o.Kind {
	case codeinterp.Stdout, codeinterp.Stderr:
		s.seen[o.Kind] += int64(len(o.Data))
	case codeinterp.Display, codeinterp.Value:
		if !o.Update {
			s.seen[o.Kind]++
		}
	case codeinterp.Clear:
		s.cleared = true
	}
	err := s.show(o)
	if s.err == nil {
		s.err = err
	}
	return err
}

// follow makes a run show its outputs, and ends the returned context if one cannot be
// shown.
func (s *screen) follow(ctx context.Context) (context.Context, context.CancelFunc, func(codeinterp.Output) error) {
	ctx, leave := context.WithCancel(ctx)
	return ctx, leave, func(o codeinterp.Output) error {
		err := s.live(o)
		if err != nil {
			leave()
		}
		return err
	}
}

// rest shows the outputs that live did not get: a program that is stopped does not wait for
// a full pipe.
func (s *screen) rest(res *codeinterp.Result) {
	// After a Clear the Result has less than was shown, and positions do not agree.
	if res.CallbackErr == nil || s.cleared || s.err != nil {
		return
	}
	var at [codeinterp.Clear + 1]int64
	for _, o := range res.Outputs {
		first := at[o.Kind]
		switch o.Kind {
		case codeinterp.Stdout, codeinterp.Stderr:
			first += o.Dropped
			at[o.Kind] = first + int64(len(o.Data))
			// Without what was shown live. Dropped bytes were shown.
			o.Data = o.Data[min(max(0, s.seen[o.Kind]-first), int64(len(o.Data))):]
		default:
			at[o.Kind]++
		}
		if at[o.Kind] > s.seen[o.Kind] && s.err == nil {
			s.err = s.show(o)
		}
	}
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
		if _, image := o.Richest(imageTypes...); s.file && o.Kind == codeinterp.Value && !image {
			return nil
		}
		return s.bundle(&o)
	}
	return nil
}

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// bundle shows the best form that a terminal can.
func (s *screen) bundle(o *codeinterp.Output) error {
	if rep, ok := o.Richest(imageTypes...); ok {
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

// finishLine ends a line that the program began, for a prompt to follow.
func (s *screen) finishLine() {
	if s.midLine && s.err == nil {
		_, s.err = io.WriteString(s.stdout, "\n")
		s.midLine = false
	}
}

// end prints how the program ended if its output does not show it.
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
		cause := cmp.Or(string(res.Cause), "unknown cause")
		if res.Cause == codeinterp.CauseSignal && res.ExitCode > 128 {
			cause = fmt.Sprint("signal ", res.ExitCode-128)
		}
		fmt.Fprintf(s.stderr, "toolcell: the program's process was lost (%s)\n", cause)
	}
	for _, n := range lossnote.Of(res.Truncated) {
		switch n.Reason {
		case codeinterp.TruncatedByLimit:
		case codeinterp.TruncatedByRate:
			fmt.Fprintf(s.stderr, "toolcell: some of %s may be missing: the server drops what exceeds its rate limit; print less, or into a file\n", n.Streams)
		default:
			fmt.Fprintf(s.stderr, "toolcell: some of %s may be missing (%s)\n", n.Streams, n.Reason)
		}
	}
}
