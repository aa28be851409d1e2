package tools

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	"github.com/toolcell/toolcell/codeinterp"
	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// Defaults of [ImageOptions]: what every vendor takes.
const (
	DefaultMaxImages    = 4
	DefaultMaxImageEdge = 1568
	DefaultMaxImageSize = 3_900_000

	// maxPixels is the largest picture that is decoded at all.
	maxPixels = 30_000_000
)

// ImageOptions says which images a reply holds. The zero value is ready to
// use.
type ImageOptions struct {
	// Max is how many images a reply holds: the last ones, since programs
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
	number int // in the reply, from 1; 0: none
	note   string
}

// maxNotes is how many images and other things that are left out get a note of
// their own.
const maxNotes = 8

// images picks the images of a reply. The second result has an entry for each
// output, or is nil where there is nothing to say.
func (o *ImageOptions) images(outputs []codeinterp.Output) ([]Image, []shownImage) {
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
		if _, ok := picture(&outputs[i]); ok {
			candidates = append(candidates, i)
		} else if rep := readable(&outputs[i]); rep.MIME == "" {
			rep = outputs[i].Bundle[0]
			note(i, "[%s, %d bytes: not shown here, kept for the user]", CleanText(clip(rep.MIME, 80)), len(rep.Data))
		}
	}
	var list []Image
	for n, i := range candidates {
		rep, _ := picture(&outputs[i])
		if len(candidates)-n > max(o.Max, 0) {
			note(i, "[%s, %d bytes: left out, at most %d images are shown]", rep.MIME, len(rep.Data), max(o.Max, 0))
			continue
		}
		img, err := o.fit(rep)
		if err != nil {
			note(i, "[%s, %d bytes: left out, %v]", rep.MIME, len(rep.Data), err)
			continue
		}
		list = append(list, img)
		shown[i].number = len(list)
	}
	return list, shown
}

// picture returns the bundle's image of a type that models take.
func picture(o *codeinterp.Output) (codeinterp.Representation, bool) {
	if len(o.Bundle) == 0 {
		return codeinterp.Representation{}, false
	}
	return o.Richest("image/png", "image/jpeg", "image/gif", "image/webp")
}

// sniff returns the type that the magic bytes stand for.
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// fit checks an image and scales it to the limits.
func (o *ImageOptions) fit(rep codeinterp.Representation) (Image, error) {
	mime := sniff(rep.Data)
	if mime == "" {
		return Image{}, fmt.Errorf("not an image")
	}
	cfg, err := decodeConfig(mime, rep.Data)
	if err != nil {
		return Image{}, fmt.Errorf("damaged")
	}
	if cfg.Width < 1 || cfg.Height < 1 || cfg.Width > maxPixels/cfg.Height {
		return Image{}, fmt.Errorf("%d by %d pixels", cfg.Width, cfg.Height)
	}
	img, err := decodeImage(mime, rep.Data)
	if err != nil {
		return Image{}, fmt.Errorf("damaged")
	}
	if max(cfg.Width, cfg.Height) <= o.MaxEdge && len(rep.Data) <= o.MaxSize {
		return Image{mime, rep.Data, cfg.Width, cfg.Height}, nil
	}
	for edge := min(o.MaxEdge, max(cfg.Width, cfg.Height)); edge >= 16; {
		scaled := scale(img, edge)
		out := encodePNG(scaled)
		if len(out.Data) > o.MaxSize {
			out = encodeJPEG(scaled)
		}
		if len(out.Data) <= o.MaxSize {
			return out, nil
		}
		edge = int(float64(edge) * min(0.9, math.Sqrt(float64(o.MaxSize)/float64(len(out.Data)))))
	}
	return Image{}, fmt.Errorf("too large")
}

func decodeConfig(mime string, data []byte) (image.Config, error) {
	r := bytes.NewReader(data)
	switch mime {
	case "image/png":
		return png.DecodeConfig(r)
	case "image/jpeg":
		return jpeg.DecodeConfig(r)
	case "image/gif":
		return gif.DecodeConfig(r)
	}
	return webp.DecodeConfig(r)
}

func decodeImage(mime string, data []byte) (image.Image, error) {
	r := bytes.NewReader(data)
	switch mime {
	case "image/png":
		return png.Decode(r)
	case "image/jpeg":
		return jpeg.Decode(r)
	case "image/gif":
		return gif.Decode(r)
	}
	return webp.Decode(r)
}

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

// as returns the image in one of the given types, as PNG if it has to be
// encoded again.
func (img Image) as(types ...string) Image {
	if slices.Contains(types, img.MIME) {
		return img
	}
	decoded, err := decodeImage(img.MIME, img.Data)
	if err != nil {
		return img
	}
	return encodePNG(decoded)
}
