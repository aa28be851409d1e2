package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"testing"
)

// header returns a PNG of which nothing but its header is there.
func header(w, h int) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err)
	}
	data := b.Bytes()
	binary.BigEndian.PutUint32(data[16:], uint32(w))
	binary.BigEndian.PutUint32(data[20:], uint32(h))
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// scans returns a JPEG with as many scans, of which the decoder reads the first.
func scans(n int) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		panic(err)
	}
	at := bytes.Index(b.Bytes(), []byte("\xff\xda"))
	scan := b.Bytes()[at : b.Len()-2]
	return append(bytes.Join([][]byte{b.Bytes()[:at], bytes.Repeat(scan, n)}, nil), 0xff, 0xd9)
}

// TestBounds: what takes far more memory or time than its bytes say is not decoded.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		err  string
	}{
		"no picture":    {[]byte("GIF8"), "not an image"},
		"damaged":       {[]byte("GIF89a"), "damaged"},
		"without sides": {header(0, 1), "damaged"},
		"large":         {header(6000, 6000), "6000 by 6000 pixels"},
		"wide":          {header(30_000_000, 1), "30000000 by 1 pixels"},
		"high":          {header(1, 30_000_000), "1 by 30000000 pixels"},
		"many scans":    {scans(maxScans + 1), "more than 100 scans"},
		"few scans":     {scans(maxScans), ""},
		"whole":         {header(1, 1), ""},
	} {
		p, err := Open(t.Context(), c.data, 1568)
		if err == nil {
			p.Close()
			err = errors.New("")
		}
		if err.Error() != c.err {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !memory.TryAcquire(maxMemory) {
		t.Error("pictures that were closed take memory")
	}
	memory.Release(maxMemory)
}

// TestWaiting: a picture of a canceled call is not waited for.
func TestWaiting(t *testing.T) {
	memory.TryAcquire(maxMemory)
	defer memory.Release(maxMemory)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := Open(ctx, header(1, 1), 1568); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
