package tools_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools"
)

// noise is a picture that no encoder makes small.
func noise(w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{1})
	r.Read(img.Pix)
	return img
}

func encodedPNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodedJPEG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webp1x1 is a lossy WebP of one pixel.
var webp1x1 = []byte("RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x01\x00\x01\x00\x01\x40\x26\x25\xa4\x00\x03\x70\x00\xfe\xfd\x36\x68\x00")

func TestImages(t *testing.T) {
	wide := pngOf(t, 4000, 100)
	bomb := pngOf(t, 6000, 6000)
	heavy := encodedPNG(t, noise(1200, 1200))
	for _, tt := range []struct {
		name string
		mime string
		data []byte
		most int
		want string // "mime WxH", with * where it was encoded again, or a note
	}{
		{"png", "image/png", pngOf(t, 3, 2), 0, "image/png 3x2"},
		{"gif", "image/gif", gifOf(t, 3, 2), 0, "image/gif 3x2"},
		{"jpeg", "image/jpeg", encodedJPEG(t, noise(8, 9)), 0, "image/jpeg 8x9"},
		{"webp", "image/webp", webp1x1, 0, "image/webp 1x1"},
		{"wide", "image/png", wide, 0, "image/png 1568x39*"},
		{"heavy", "image/png", heavy, 0, "image/jpeg 1200x1200*"},
		{"not an image", "image/png", []byte("hello"), 0, "[image/png, 5 bytes: left out, not an image]"},
		{"cut off", "image/png", wide[:len(wide)-30], 0, "damaged"},
		{"bomb", "image/png", bomb, 0, "6000 by 6000 pixels"},
		{"none wanted", "image/png", wide, -1, "at most 0 images"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := run(t, ok(display(tt.mime, tt.data)), &tools.Options{MaxImages: tt.most})
			if bytes.Contains([]byte(r.Text), []byte("iVBOR")) || bytes.Contains(r.JSON(), []byte("iVBOR")) {
				t.Error("base64 in the text")
			}
			if len(r.Images) == 0 {
				if !strings.Contains(r.Text, tt.want) {
					t.Errorf("got %q", r.Text)
				}
				return
			}
			img := r.Images[0]
			got := fmt.Sprintf("%s %dx%d", img.MIME, img.Width, img.Height)
			if !bytes.Equal(img.Data, tt.data) {
				got += "*"
			}
			if tt.want != got && !(strings.HasSuffix(tt.want, " ") && strings.HasPrefix(got, tt.want)) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			cfg, _, err := image.DecodeConfig(bytes.NewReader(img.Data))
			if err != nil && img.MIME != "image/webp" || err == nil && (cfg.Width != img.Width || cfg.Height != img.Height) {
				t.Errorf("%v, %v", cfg, err)
			}
			if !bytes.Equal(r.Result.Outputs[0].Bundle[0].Data, tt.data) {
				t.Error("the caller's image is changed")
			}
		})
	}
}

// TestImageCount: the last images are shown, the others are listed.
func TestImageCount(t *testing.T) {
	var outputs []codeinterp.Output
	for i := range 20 {
		outputs = append(outputs, display("image/png", pngOf(t, i+1, 1)))
	}
	r := run(t, ok(outputs...), nil)
	if len(r.Images) != 4 || r.Images[0].Width != 17 || r.Images[3].Width != 20 {
		t.Errorf("got %d images", len(r.Images))
	}
	if n := strings.Count(r.Text, "at most 4 images are shown"); n != 8 || !strings.Contains(r.Text, "[further displays") || !strings.HasSuffix(r.Text, "[image 4]\n") {
		t.Errorf("%d notes: %s", n, r.Text)
	}
}

// FuzzImage: no bytes make it panic, and what comes out decodes.
func FuzzImage(f *testing.F) {
	f.Add(pngOf(f, 3, 2))
	f.Add(gifOf(f, 3, 2))
	f.Add(encodedJPEG(f, noise(8, 8)))
	f.Add(webp1x1)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 100<<10 {
			return
		}
		cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err == nil && cfg.Width*cfg.Height > 1<<20 {
			return
		}
		r := run(t, ok(display("image/png", data)), nil)
		for _, img := range r.Images {
			if img.MIME == "image/webp" {
				continue
			}
			if _, _, err := image.Decode(bytes.NewReader(img.Data)); err != nil {
				t.Fatal(err)
			}
		}
	})
}
