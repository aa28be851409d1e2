package tools

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// A format is a type of image that models take.
type format struct {
	mime   string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// imageTypes are the MIME types of formats, the preferred one first.
var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// formatOf returns the format that the magic bytes stand for, nil for none.
func formatOf(data []byte) *format {
	starts := func(magic string) bool { return bytes.HasPrefix(data, []byte(magic)) }
	switch {
	case starts("\x89PNG\r\n\x1a\n"):
		return &format{"image/png", png.DecodeConfig, png.Decode}
	case starts("\xff\xd8\xff"):
		return &format{"image/jpeg", jpeg.DecodeConfig, jpeg.Decode}
	case starts("GIF87a"), starts("GIF89a"):
		return &format{"image/gif", gif.DecodeConfig, gif.Decode}
	case starts("RIFF") && len(data) > 12 && string(data[8:12]) == "WEBP":
		return &format{"image/webp", webp.DecodeConfig, webp.Decode}
	}
	return nil
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

// As returns the image in one of the given types, as PNG if it has to be
// encoded again.
func (img Image) As(types ...string) Image {
	if slices.Contains(types, img.MIME) {
		return img
	}
	f := formatOf(img.Data)
	if f == nil {
		return img
	}
	decoded, err := f.decode(bytes.NewReader(img.Data))
	if err != nil {
		return img
	}
	return encodePNG(decoded)
}
