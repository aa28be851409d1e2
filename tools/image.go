package tools

import (
	"bytes"
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

const (
	// DefaultMaxImages is the default of Options.MaxImages.
	DefaultMaxImages = 4

	// MaxImageEdge is the longest edge of an Image in pixels, and MaxImageSize the size of
	// its data in bytes, which every vendor takes; larger images are made smaller.
	MaxImageEdge = 1568
	MaxImageSize = 3_900_000
)

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

// images picks the images of an answer, at most that many. The second result has an entry
// for each output, or is nil without displays.
func images(ctx context.Context, outputs []codeinterp.Output, most int) ([]Image, []shownImage) {
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
		if len(candidates)-n > most {
			note(i, "[%s, %d bytes: left out, at most %d images are shown]", rep.MIME, len(rep.Data), most)
			continue
		}
		img, err := fitImage(ctx, rep)
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

// fitImage checks an image and scales it to the limits.
func fitImage(ctx context.Context, rep codeinterp.Representation) (Image, error) {
	// Also if it is passed on as it is: with a damaged image, an API may refuse
	// the whole turn.
	p, err := picture.Open(ctx, rep.Data, MaxImageEdge)
	if err != nil {
		return Image{}, err
	}
	defer p.Close()
	long := max(p.Width, p.Height)
	if long <= MaxImageEdge && len(rep.Data) <= MaxImageSize {
		return Image{p.MIME, rep.Data, p.Width, p.Height}, nil
	}
	for edge := min(MaxImageEdge, long); edge >= 16; {
		scaled := scale(p.Image, edge)
		out := encodePNG(scaled)
		if len(out.Data) > MaxImageSize {
			out = encodeJPEG(scaled)
		}
		if len(out.Data) <= MaxImageSize {
			return out, nil
		}
		// The size goes with the area, roughly; a tenth less at least, so that this
		// ends.
		edge = int(float64(edge) * min(0.9, math.Sqrt(float64(MaxImageSize)/float64(len(out.Data)))))
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
