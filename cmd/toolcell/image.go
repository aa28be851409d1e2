package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/picture"
)

// An imageShower shows images inline, or saves them and names the file.
type imageShower struct {
	protocol string // "kitty", "iterm2", "sixel", or empty
	dir      string // where to save; empty: the current directory
	name     string // of saved files, before the number
	none     bool
	saved    int

	open func(dir string) (*os.Root, error) // makes dir
}

// newImageShower reads the --images flag.
func newImageShower(a *app, f *programFlags) imageShower {
	s := imageShower{open: f.makeDir, name: "output-"}
	switch how := f.images; how {
	case "auto":
		s.protocol = inlineProtocol(a)
	case "kitty", "iterm2", "sixel":
		s.protocol = how
	case "none":
		s.none = true
	default:
		s.dir = how
	}
	return s
}

// inlineProtocol guesses what the terminal can from the environment, as
// terminals announce themselves.
func inlineProtocol(a *app) string {
	if !isTerminal(a.stdout) {
		return ""
	}
	return terminalProtocol(a.getenv)
}

func terminalProtocol(getenv func(string) string) string {
	term, program := getenv("TERM"), getenv("TERM_PROGRAM")
	switch {
	// tmux passes images on only where it is set up to.
	case getenv("TMUX") != "":
		return ""
	case getenv("KITTY_WINDOW_ID") != "", strings.Contains(term, "kitty"), strings.Contains(term, "ghostty"), program == "ghostty":
		return "kitty"
	case program == "iTerm.app", program == "WezTerm", getenv("LC_TERMINAL") == "iTerm2":
		return "iterm2"
	case strings.Contains(term, "sixel"), strings.HasPrefix(term, "foot"), strings.HasPrefix(term, "mlterm"):
		return "sixel"
	}
	return ""
}

func (s *imageShower) show(to *screen, rep codeinterp.Representation) error {
	if s.none {
		return to.line(fmt.Sprintf("[%s, %d bytes]", visible(rep.MIME), len(rep.Data)))
	}
	why := ""
	if s.protocol != "" && strings.HasPrefix(rep.MIME, "image/") {
		var b bytes.Buffer
		// Into a buffer first: of an image that cannot be decoded nothing is to be
		// shown.
		err := inline(&b, s.protocol, rep.Data)
		if err == nil {
			return to.line(b.String())
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

// maxInline and maxSixel are the largest pictures that are encoded for a terminal. For
// kitty one of noise takes 32 bytes a pixel; as sixel it takes four times that, and two
// seconds a million.
const (
	maxInline = 8 << 20
	maxSixel  = 3 << 20
)

func inline(w io.Writer, protocol string, data []byte) error {
	if protocol == "iterm2" {
		_, err := io.WriteString(w, ansi.ITerm2(iterm2.File{Name: "image", Size: int64(len(data)), Inline: true, Content: base64.StdEncoding.AppendEncode(nil, data)}))
		return err
	}
	most := maxInline
	if protocol == "sixel" {
		most = maxSixel
	}
	if err := picture.Small(data, most); err != nil {
		return err
	}
	p, err := picture.Open(context.Background(), data, math.MaxInt)
	if err != nil {
		return err
	}
	defer p.Close()
	if protocol == "kitty" {
		return kitty.EncodeGraphics(w, p.Image, &kitty.Options{
			Action: kitty.TransmitAndPut, Transmission: kitty.Direct, Format: kitty.PNG, Chunk: true, Quiet: 2,
		})
	}
	var b bytes.Buffer
	if err := new(sixel.Encoder).Encode(&b, p.Image); err != nil {
		return err
	}
	_, err = io.WriteString(w, ansi.SixelGraphics(0, 1, 0, b.Bytes()))
	return err
}

// beside makes names for images that are saved beside a program's file. No other
// program makes such names, so that the images of an earlier run are replaced.
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
	name := fmt.Sprintf("%s%d%s", s.name, s.saved, extension(rep.MIME))
	return filepath.Join(s.dir, name), writeNew(dir, name, rep.Data, 0o600)
}

func extension(mimeType string) string {
	switch mimeType {
	case "image/jpeg":
		return ".jpg"
	case "image/svg+xml":
		return ".svg"
	case "text/html":
		return ".html"
	}
	if list, err := mime.ExtensionsByType(mimeType); err == nil && len(list) > 0 {
		return list[0]
	}
	return ".bin"
}
