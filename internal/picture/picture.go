// Package picture decodes pictures of a program's making: no more of them than
// models and terminals need, and no more at a time than there is memory for.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"runtime"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"
)

const (
	// maxPixels is the largest picture that is decoded at all, maxSide its longest
	// side: what is a pixel wide takes a hundred times as much to scale.
	maxPixels = 30_000_000
	maxSide   = 1<<16 - 1

	// maxScans is how many scans a JPEG may have, each of which goes over all of it.
	// Encoders make ten.
	maxScans = 100

	// maxMemory is about how many bytes pictures take at a time that are decoded.
	// What a picture of largeMemory took is collected before the next one takes more.
	maxMemory   = 256 << 20
	largeMemory = 64 << 20
)

var (
	errNone    = errors.New("not an image")
	errDamaged = errors.New("damaged")
	errScans   = fmt.Errorf("more than %d scans", maxScans)
)

// A Picture is one that was decoded, with the MIME type that its bytes are.
type Picture struct {
	image.Image
	MIME          string
	Width, Height int // of all of it; an animation's image can be smaller
	took          int64
}

var memory = semaphore.NewWeighted(maxMemory)

// Open decodes a picture, which is to be scaled to a longest edge of that many pixels
// and then closed. It waits until ctx is done while others take too much memory.
func Open(ctx context.Context, data []byte, edge int) (*Picture, error) {
	f, cfg, err := look(data)
	if err != nil {
		return nil, err
	}
	took := min(f.decoded(cfg, len(data))+scaled(cfg, edge), maxMemory) // there is room for one alone
	p := &Picture{MIME: f.mime, Width: cfg.Width, Height: cfg.Height, took: int64(took)}
	if memory.Acquire(ctx, p.took) != nil {
		return nil, context.Cause(ctx)
	}
	if p.Image, err = f.decode(bytes.NewReader(data)); err != nil {
		p.Close()
		return nil, errDamaged
	}
	return p, nil
}

// look reads the header, which is the program's: decoding takes what memory it says.
func look(data []byte) (*format, image.Config, error) {
	f := formatOf(data)
	if f == nil {
		return nil, image.Config{}, errNone
	}
	cfg, err := f.config(bytes.NewReader(data))
	if err != nil {
		return nil, cfg, errDamaged
	}
	if w, h := cfg.Width, cfg.Height; w < 1 || h < 1 || max(w, h) > maxSide || w > maxPixels/h {
		return nil, cfg, fmt.Errorf("%d by %d pixels", w, h)
	}
	if f.mime == "image/jpeg" && bytes.Count(data, []byte("\xff\xda")) > maxScans {
		return nil, cfg, errScans
	}
	return f, cfg, nil
}

// Close says that the picture is not used any more.
func (p *Picture) Close() {
	if p.Image = nil; p.took >= largeMemory {
		runtime.GC()
	}
	memory.Release(p.took)
	p.took = 0
}

// A format is a type of image that models take.
type format struct {
	mime   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	each   int // bytes that decoding takes for a pixel at most
}

// formatOf returns the format that the magic bytes stand for, nil for none.
func formatOf(data []byte) *format {
	starts := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	switch {
	case starts("\x89PNG\r\n\x1a\n"):
		return &format{"image/png", png.DecodeConfig, png.Decode, 4}
	case starts("\xff\xd8\xff"):
		return &format{"image/jpeg", jpeg.DecodeConfig, jpeg.Decode, 20} // with the coefficients of a progressive one
	case starts("GIF87a"), starts("GIF89a"):
		return &format{"image/gif", gif.DecodeConfig, gif.Decode, 1}
	case starts("RIFF") && len(data) > 12 && string(data[8:12]) == "WEBP":
		return &format{"image/webp", webp.DecodeConfig, webp.Decode, 8}
	}
	return nil
}

// decoded is about how many bytes a picture takes while it is decoded.
func (f *format) decoded(c image.Config, size int) int {
	n := c.Width * c.Height * f.each
	switch {
	case f.mime == "image/webp": // each of up to 65,536 groups of codes has tables
		n += min(1000*size, 176<<20)
	case c.ColorModel == color.NRGBA64Model || c.ColorModel == color.RGBA64Model || c.ColorModel == color.Gray16Model:
		n *= 2
	}
	return n
}

// scaled is about how many bytes it takes to scale a picture: 32 for each pixel of one
// that is scaled in one direction only.
func scaled(c image.Config, edge int) int {
	long := max(c.Width, c.Height)
	if long <= edge {
		return 0
	}
	return 32 * max(1, c.Width*edge/long) * c.Height
}
