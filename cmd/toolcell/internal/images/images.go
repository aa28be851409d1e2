// Package images encodes pictures for terminals.
package images

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"mime"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/iterm2"
)

// Protocol guesses from the environment which protocol for pictures the terminal
// understands: kitty, iterm2, or none.
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
	}
	return ""
}

const (
	maxPixels = 8 << 20
	chunk     = 4096 // of kitty
)

// Encode returns a picture as a protocol has it. For kitty it is a PNG.
func Encode(protocol string, data []byte) (string, error) {
	text := base64.StdEncoding.EncodeToString(data)
	if protocol == "iterm2" {
		return ansi.ITerm2(iterm2.File{Name: "image", Size: int64(len(data)), Inline: true, Content: []byte(text)}), nil
	}
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	if c.Width > maxPixels/c.Height {
		return "", fmt.Errorf("%d by %d pixels", c.Width, c.Height)
	}
	var b strings.Builder
	options := []string{"a=T", "f=100", "q=2", "m=1"}
	for ; len(text) > chunk; text = text[chunk:] {
		b.WriteString(ansi.KittyGraphics([]byte(text[:chunk]), options...))
		options = []string{"m=1"}
	}
	options[len(options)-1] = "m=0"
	return b.String() + ansi.KittyGraphics([]byte(text), options...), nil
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
