package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"regexp/syntax"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/artifact"
)

// GrepOptions tunes Grep. The zero value searches all files for an expression.
type GrepOptions struct {
	Literal    bool   // the text is searched for as it is
	IgnoreCase bool   // upper and lower case are the same
	Include    string // search the files whose path matches; see Glob
	Limit      int    // how many lines to return; zero means Options.MaxEntries
}

// A Match is a line that matches.
type Match struct {
	Path string // as Entry.Path
	Line int64  // from 1
	Text string // the line without its end, up to 500 bytes of it around the match

	// Cut says that there is more of the line.
	Cut bool
}

// Matches is what Grep found.
type Matches struct {
	Matches []Match
	Files   int    // how many files were searched
	More    string // as Listing.More
	// Skipped are files and directories that were not, or not wholly, searched,
	// up to a hundred.
	Skipped []Skip
}

const (
	maxLine  = 64 << 10 // how much of a line is searched
	maxMatch = 500

	// maxStates is how large a compiled expression may be: the time for a line is that
	// times the line's length.
	maxStates = 2000
)

// Grep finds lines in a file, or in the files of a directory at any depth. Files
// that are not text are skipped. o may be nil.
func (s *Workdir) Grep(ctx context.Context, p, text string, o *GrepOptions) (Matches, error) {
	if o == nil {
		o = &GrepOptions{}
	}
	ctx, cancel := s.bound(ctx)
	defer cancel()
	name, err := s.Name(p)
	if err != nil {
		return Matches{}, err
	}
	g := grepper{s: s, ctx: ctx, dir: name, most: min(cmp.Or(max(o.Limit, 0), s.o.MaxEntries), s.o.MaxEntries)}
	if err := g.compile(text, o); err != nil {
		return Matches{}, err
	}
	info, err := s.fsys.Stat(name)
	if err != nil {
		return Matches{}, err
	}
	if !info.IsDir() {
		if err = g.file(name); errors.Is(err, errBinary) || errors.Is(err, errLong) {
			g.skip(Skip{shown(name), err.Error()})
			err = nil
		}
	} else {
		var unread []Skip
		g.More, unread, err = s.walk(ctx, name, maxDepth, g.visit)
		for _, u := range unread {
			g.skip(u)
		}
		if g.err != nil {
			err = g.err
		}
	}
	if errors.Is(err, errTime) {
		g.More, err = moreTime, nil
	}
	return g.Matches, err
}

type grepper struct {
	Matches
	s       *Workdir
	ctx     context.Context
	dir     string
	re      *regexp.Regexp
	include func(string) bool
	most    int
	err     error
}

// CheckSearch says what is wrong with an expression, or a literal text, for Grep.
func CheckSearch(text string, literal bool) error {
	_, err := expression(text, &GrepOptions{Literal: literal})
	return err
}

func expression(text string, o *GrepOptions) (*regexp.Regexp, error) {
	if text == "" || len(text) > maxPattern {
		return nil, fmt.Errorf("%w: search for 1 to %d bytes", codeinterp.ErrInvalid, maxPattern)
	}
	if o.Literal {
		text = regexp.QuoteMeta(text)
	}
	if o.IgnoreCase {
		text = "(?i:" + text + ")"
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; the syntax is RE2", codeinterp.ErrInvalid, err)
	}
	// What regexp has compiled parses and compiles.
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if p, err := syntax.Compile(parsed.Simplify()); err == nil && len(p.Inst) > maxStates {
			return nil, fmt.Errorf("%w: the expression takes too long to search for; repeat less", codeinterp.ErrInvalid)
		}
	}
	return re, nil
}

func (g *grepper) compile(text string, o *GrepOptions) (err error) {
	if g.re, err = expression(text, o); err != nil {
		return err
	}
	if o.Include != "" {
		g.include, err = compile(o.Include)
	}
	return err
}

// visit searches an entry of a walk.
func (g *grepper) visit(name string, d fs.DirEntry) bool {
	switch {
	case d.IsDir() || g.include != nil && !g.include(below(g.dir, name)):
		return true
	case !fs.ValidPath(name):
		g.skip(Skip{shown(name), "its name is not UTF-8"})
		return true
	case typeOf(d.Type()) == TypeSpecial:
		g.skip(Skip{shown(name), codeinterp.ErrSpecial.Error()})
		return true
	case typeOf(d.Type()) == TypeLink:
		// What it leads to within the directory is searched under its own name.
		return true
	}
	if err := g.file(name); g.ctx.Err() != nil {
		g.err = context.Cause(g.ctx)
		return false
	} else if err != nil {
		g.skip(Skip{shown(name), reason(err)})
	}
	return len(g.Matches.Matches) < g.most
}

func (g *grepper) skip(k Skip) {
	if len(g.Skipped) < maxSkips {
		g.Skipped = append(g.Skipped, k)
	}
}

// file searches a file.
func (g *grepper) file(name string) error {
	l := lines{}
	l.line = func(n int64, line []byte) bool {
		if g.ctx.Err() != nil {
			return false
		}
		at := g.re.FindIndex(line)
		if at != nil {
			if len(g.Matches.Matches) >= g.most {
				g.More = moreEntries
				return false
			}
			g.Matches.Matches = append(g.Matches.Matches, matchOf(shown(name), n, line, at))
		}
		return true
	}
	first := true
	err := g.s.stream(g.ctx, name, func(b []byte) bool {
		if first {
			first = false
			// The first piece decides: a file of other data is not read to its end.
			if l.binary = !artifact.IsText(b[:min(len(b), sniffed)]); l.binary {
				return false
			}
		}
		return l.take(b)
	})
	l.end()
	g.Files++
	switch {
	case err == nil && g.ctx.Err() != nil:
		return context.Cause(g.ctx)
	case err != nil:
		return err
	case l.binary:
		return errBinary
	case l.long:
		return errLong
	}
	return nil
}

var (
	errBinary = errors.New("not text")
	errLong   = fmt.Errorf("of lines longer than %d bytes only that much was searched", maxLine)
)

// matchOf cuts the line around its match.
func matchOf(name string, n int64, line []byte, at []int) Match {
	m := Match{Path: name, Line: n}
	if len(line) > maxMatch {
		// A quarter of what is shown stands before the match, and more of it at the
		// line's end.
		start := max(min(at[0]-maxMatch/4, len(line)-maxMatch), 0)
		line, m.Cut = line[start:start+maxMatch], true
	}
	m.Text = string(bytes.ToValidUTF8(line, []byte("\uFFFD")))
	return m
}

// lines cuts a stream into lines.
type lines struct {
	line   func(n int64, line []byte) bool
	n      int64
	rest   []byte
	long   bool // something was left out
	binary bool
	done   bool
}

func (l *lines) take(b []byte) bool {
	for len(b) > 0 && !l.done {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			l.add(b)
			break
		}
		if len(l.rest) == 0 && i <= maxLine {
			l.pass(b[:i])
		} else {
			l.add(b[:i])
			l.pass(l.rest)
			l.rest = l.rest[:0]
		}
		b = b[i+1:]
	}
	return !l.done
}

func (l *lines) add(b []byte) {
	n := min(len(b), maxLine-len(l.rest))
	l.long = l.long || n < len(b)
	l.rest = append(l.rest, b[:n]...)
}

func (l *lines) pass(line []byte) {
	l.n++
	l.done = !l.line(l.n, bytes.TrimSuffix(line, []byte{'\r'}))
}

func (l *lines) end() {
	if len(l.rest) > 0 && !l.done && !l.binary {
		l.pass(l.rest)
	}
}
