package tools

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/draw"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/picture"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

// Defaults of [ImageOptions]: what every vendor takes.
const (
	DefaultMaxImages    = 4
	DefaultMaxImageEdge = 1568
	DefaultMaxImageSize = 3_900_000
)

// ImageOptions says which images an answer holds. The zero value is ready to
// use.
type ImageOptions struct {
	// Max is how many images an answer holds: the last ones, since programs
	// show their best at the end. Zero means DefaultMaxImages, -1 none.
	Max int

	// MaxEdge is the longest edge, in pixels; larger images are scaled down.
	// Zero means DefaultMaxImageEdge.
	MaxEdge int

	// MaxSize is the largest encoded image, in bytes; larger ones are
	// encoded again, and made smaller if need be. Zero means
	// DefaultMaxImageSize.
	MaxSize int
}

func (o *ImageOptions) complete() error {
	o.Max = cmp.Or(o.Max, DefaultMaxImages)
	o.MaxEdge = cmp.Or(o.MaxEdge, DefaultMaxImageEdge)
	o.MaxSize = cmp.Or(o.MaxSize, DefaultMaxImageSize)
	if o.Max < -1 || o.MaxEdge < 16 || o.MaxSize < 4<<10 {
		return fmt.Errorf("images %+v: use MaxEdge of 16 or more, MaxSize of 4096 or more", *o)
	}
	return nil
}

// An Image is a picture for the model. Its bytes were decoded, so they are
// what MIME says.
type Image struct {
	MIME          string // image/png, image/jpeg, image/gif or image/webp
	Data          []byte
	Width, Height int
}

// shownImage says what became of the image of one output.
type shownImage struct {
	number int // in the answer, from 1; 0: none
	note   string
}

// maxNotes is how many images and other things that are left out get a note of
// their own.
const maxNotes = 8

// images picks the images of an answer. The second result has an entry for each
// output, or is nil without displays.
func (o *ImageOptions) images(ctx context.Context, outputs []codeinterp.Output) ([]Image, []shownImage) {
	var shown []shownImage
	var candidates []int
	notes := 0
	note := func(i int, format string, args ...any) {
		if notes++; notes <= maxNotes {
			shown[i].note = fmt.Sprintf(format, args...)
		} else if notes == maxNotes+1 {
			shown[i].note = "[further displays that cannot be shown are left out]"
		}
	}
	for i := range outputs {
		if len(outputs[i].Bundle) == 0 {
			continue
		}
		if shown == nil {
			shown = make([]shownImage, len(outputs))
		}
		if _, ok := pictureOf(&outputs[i]); ok {
			candidates = append(candidates, i)
		} else if rep := readable(&outputs[i]); rep.MIME == "" {
			rep = outputs[i].Bundle[0]
			note(i, "[%s, %d bytes: not shown here, kept for the user]", plaintext.Line(shorten.Head(rep.MIME, 80)), len(rep.Data))
		}
	}
	var list []Image
	for n, i := range candidates {
		rep, _ := pictureOf(&outputs[i])
		if len(candidates)-n > max(o.Max, 0) {
			note(i, "[%s, %d bytes: left out, at most %d images are shown]", rep.MIME, len(rep.Data), max(o.Max, 0))
			continue
		}
		img, err := o.fit(ctx, rep)
		if err != nil {
			note(i, "[%s, %d bytes: left out, %v]", rep.MIME, len(rep.Data), err)
			continue
		}
		list = append(list, img)
		shown[i].number = len(list)
	}
	return list, shown
}

// pictureOf returns the bundle's image of a type that models take.
func pictureOf(o *codeinterp.Output) (codeinterp.Representation, bool) {
	if len(o.Bundle) == 0 {
		return codeinterp.Representation{}, false
	}
	return o.Richest(imageTypes...)
}

// fit checks an image and scales it to the limits.
func (o *ImageOptions) fit(ctx context.Context, rep codeinterp.Representation) (Image, error) {
	// Also if it is passed on as it is: with a damaged image, an API may refuse
	// the whole turn.
	p, err := picture.Open(ctx, rep.Data, o.MaxEdge)
	if err != nil {
		return Image{}, err
	}
	defer p.Close()
	long := max(p.Width, p.Height)
	if long <= o.MaxEdge && len(rep.Data) <= o.MaxSize {
		return Image{p.MIME, rep.Data, p.Width, p.Height}, nil
	}
	for edge := min(o.MaxEdge, long); edge >= 16; {
		scaled := scale(p.Image, edge)
		out := encodePNG(scaled)
		if len(out.Data) > o.MaxSize {
			out = encodeJPEG(scaled)
		}
		if len(out.Data) <= o.MaxSize {
			return out, nil
		}
		// The size goes with the area, roughly; a tenth less at least, so that this
		// ends.
		edge = int(float64(edge) * min(0.9, math.Sqrt(float64(o.MaxSize)/float64(len(out.Data)))))
	}
	return Image{}, fmt.Errorf("too large")
}

// imageTypes are the MIME types of images that models take, the preferred one first.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// scale returns img with its longest edge at most edge pixels.
func scale(img image.Image, edge int) image.Image {
	b := img.Bounds()
	long := max(b.Dx(), b.Dy())
	if long <= edge {
		return img
	}
	size := image.Rect(0, 0, max(1, b.Dx()*edge/long), max(1, b.Dy()*edge/long))
	dst := image.NewNRGBA(size)
	draw.CatmullRom.Scale(dst, size, img, b, draw.Src, nil)
	return dst
}

func encodePNG(img image.Image) Image {
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
		return Image{}
	}
	return Image{"image/png", b.Bytes(), img.Bounds().Dx(), img.Bounds().Dy()}
}

// encodeJPEG puts img on white, since JPEG has no transparency.
func encodeJPEG(img image.Image) Image {
	r := image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy())
	flat := image.NewRGBA(r)
	draw.Draw(flat, r, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, r, img, img.Bounds().Min, draw.Over)
	var b bytes.Buffer
	if jpeg.Encode(&b, flat, &jpeg.Options{Quality: 85}) != nil {
		return Image{}
	}
	return Image{"image/jpeg", b.Bytes(), r.Dx(), r.Dy()}
}

// As returns the image in one of the given types, as PNG if it has to be
// encoded again.
func (img Image) As(types ...string) Image {
	if slices.Contains(types, img.MIME) {
		return img
	}
	p, err := picture.Open(context.Background(), img.Data, math.MaxInt)
	if err != nil {
		return img
	}
	defer p.Close()
	return encodePNG(p.Image)
}
