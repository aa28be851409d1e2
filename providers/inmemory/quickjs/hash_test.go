//go:build !(386 || arm || s390x)

package quickjs

import (
	"bytes"
	"crypto/hmac"
	"testing"
)

// A digest in pieces, kept as bytes in between, is that of the whole.
func TestDigest(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 50)
	for name, maker := range hashes {
		for _, keySize := range []int{-1, 0, 1, 63, 64, 65, 128, 129, 300} {
			var key []byte
			want := maker()
			if keySize >= 0 {
				key = data[:keySize]
				want = hmac.New(maker, key)
			}
			want.Write(data)
			state := newDigest(maker, key).state()
			for piece := range bytes.SplitAfterSeq(data, []byte("7")) {
				d, ok := restore(maker, state)
				if !ok {
					t.Fatalf("%s: a state of %d bytes was refused", name, len(state))
				}
				d.inner.Write(piece)
				state = d.state()
			}
			d, _ := restore(maker, state)
			if got := d.sum(); !bytes.Equal(got, want.Sum(nil)) {
				t.Errorf("%s with a key of %d bytes: got %x, want %x", name, keySize, got, want.Sum(nil))
			}
		}
		for _, state := range [][]byte{nil, {1}, make([]byte, len(newDigest(maker, nil).state())), data} {
			if _, ok := restore(maker, state); ok {
				t.Errorf("%s: %d bytes were taken for a state", name, len(state))
			}
		}
	}
}
