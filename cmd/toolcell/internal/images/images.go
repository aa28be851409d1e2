// Package images encodes pictures for terminals.
package images

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"math"
	"mime"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
	"github.com/charmbracelet/x/ansi/kitty"
	"github.com/charmbracelet/x/ansi/sixel"

	"github.com/toolcell/toolcell/internal/picture"
)

// Protocol guesses from the environment which protocol for pictures the terminal
// understands: kitty, iterm2, sixel, or none.
func Protocol(getenv func(string) string) string {
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

// maxInline and maxSixel are the largest pictures that are encoded for a terminal. For
// kitty one of noise takes 32 bytes a pixel; as sixel it takes four times that, and two
// seconds a million.
const (
	maxInline = 8 << 20
	maxSixel  = 3 << 20
)

// Encode writes a picture as a protocol has it.
func Encode(w io.Writer, protocol string, data []byte) error {
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

// Extension returns the extension of files of a MIME type.
func Extension(mimeType string) string {
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
