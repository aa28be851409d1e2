package screen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/tools"
)

// took is how long a reply's program ran.
func took(r *tools.Answer) time.Duration {
	d := r.Result.Duration
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

const (
	maxLines = 11  // of an argument that are shown
	maxLine  = 100 // characters of such a line that are shown
)

// argumentLines returns a call's arguments for people: the code as it is, and
// the others in one line. What is too long is cut.
func argumentLines(args string) string {
	var all map[string]any
	text := args
	if json.Unmarshal([]byte(args), &all) == nil {
		code, _ := all["code"].(string)
		delete(all, "code")
		text = strings.Trim(code, "\n")
		if len(all) > 0 {
			rest, _ := json.Marshal(all)
			text = string(rest) + "\n" + text
		}
	}
	lines := strings.Split(strings.TrimRight(plaintext.Clean(text), "\n"), "\n")
	if more := len(lines) - maxLines; more > 1 {
		lines = append(slices.Clone(lines[:maxLines]), fmt.Sprintf("... %d more lines", more))
	}
	for i, line := range lines {
		if r := []rune(line); len(r) > maxLine {
			lines[i] = string(r[:maxLine]) + "..."
		}
	}
	return strings.Join(lines, "\n")
}

// display writes a display: as a picture where it has one and the terminal has
// colors, and by its types elsewhere.
func (s *Screen) display(margin string, o *codeinterp.Output) {
	var types []string
	for _, rep := range o.Bundle {
		types = append(types, fmt.Sprintf("%s, %d bytes", plaintext.Clean(rep.MIME), len(rep.Data)))
	}
	rep, _ := o.Richest("image/png", "image/jpeg", "image/gif")
	img, size := decode(rep.Data)
	if img != nil {
		types[0] += fmt.Sprintf(", %d x %d", size.X, size.Y)
	}
	s.lines(margin, dim, "display: "+strings.Join(types, "; "))
	if img != nil && s.color {
		s.lines(margin, "", blocks(img, size))
		return
	}
	if text, ok := o.Richest("text/markdown", "text/plain"); ok {
		s.lines(margin, "", plaintext.Clean(string(text.Data)))
	}
}

// decode decodes a picture that is not too large to be worth it.
func decode(data []byte) (image.Image, image.Point) {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < 1 || c.Height < 1 || c.Width*c.Height > 4<<20 {
		return nil, image.Point{}
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, image.Point{}
	}
	return img, image.Pt(c.Width, c.Height)
}

// maxWidth is how many columns a picture takes.
const maxWidth = 64

// blocks draws a picture with half blocks, two pixels in each character.
func blocks(img image.Image, size image.Point) string {
	w := min(size.X, maxWidth)
	h := max(size.Y*w/size.X, 1)
	at := func(x, y int) string {
		p := img.Bounds().Min.Add(image.Pt(x*size.X/w, min(y*size.Y/h, size.Y-1)))
		r, g, b, _ := img.At(p.X, p.Y).RGBA()
		return fmt.Sprintf("2;%d;%d;%d", r>>8, g>>8, b>>8)
	}
	var b strings.Builder
	for y := 0; y < h; y += 2 {
		for x := range w {
			fmt.Fprintf(&b, "\x1b[38;%s;48;%sm▀", at(x, y), at(x, y+1))
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String()
}
