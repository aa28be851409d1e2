package tools

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"

	"golang.org/x/image/draw"

	"github.com/toolcell/toolcell/internal/picture"
)

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
