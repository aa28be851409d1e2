package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcell/toolcell/cmd/toolcell/internal/images"
	"github.com/toolcell/toolcell/cmd/toolcell/internal/outdir"
	"github.com/toolcell/toolcell/codeinterp"
)

// An imageShower shows images inline, or saves them and prints their names.
type imageShower struct {
	protocol string // "kitty", "iterm2", or empty
	dir      string // where to save; empty: the current directory
	name     string // of saved files, before the number
	none     bool
	saved    int

	open func(dir string) (*os.Root, error) // makes dir
}

// newImageShower reads the --images flag.
func newImageShower(a *app, f *programFlags) imageShower {
	s := imageShower{open: outdir.Writable(f.write).Open, name: "output-"}
	switch how := f.images; how {
	case "auto":
		if isTerminal(a.stdout) {
			s.protocol = images.Protocol(a.getenv)
		}
	case "kitty", "iterm2":
		s.protocol = how
	case "none":
		s.none = true
	default:
		s.dir = how
	}
	return s
}

func (s *imageShower) show(to *screen, rep codeinterp.Representation) error {
	if s.none {
		return to.line(fmt.Sprintf("[%s, %d bytes]", visible(rep.MIME), len(rep.Data)))
	}
	why := ""
	if s.protocol != "" && strings.HasPrefix(rep.MIME, "image/") {
		text, err := images.Encode(s.protocol, rep.Data)
		if err == nil {
			return to.line(text)
		}
		why = fmt.Sprintf(", not shown: %v", err)
	}
	name, err := s.save(rep)
	if err != nil && s.dir == "" { // was not asked for
		_, err = fmt.Fprintf(to.stderr, "toolcell: %s not saved: %v; --images DIR saves it there\n", visible(rep.MIME), err)
		return err
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to.stderr, "toolcell: %s saved as %s%s\n", visible(rep.MIME), name, why)
	return err
}

// beside names saved images after a program's file. The images of an earlier run are
// replaced.
func (s *imageShower) beside(file string) {
	if s.dir == "" {
		base := filepath.Base(cmp.Or(file, "output"))
		s.name = strings.TrimSuffix(base, filepath.Ext(base)) + ".toolcell-"
	}
}

func (s *imageShower) save(rep codeinterp.Representation) (string, error) {
	dir, err := s.open(cmp.Or(s.dir, "."))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	s.saved++
	name := fmt.Sprintf("%s%d%s", s.name, s.saved, images.Extension(rep.MIME))
	return filepath.Join(s.dir, name), outdir.Write(dir, name, rep.Data, 0o600)
}
