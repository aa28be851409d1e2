package machine

import "bytes"

// An Image is what memories begin as. It may be used from any goroutine.
type Image struct {
	size int64
	storage
}

// NewImage returns an image of a memory, whose size is a multiple of 64 KiB.
func NewImage(memory []byte) (*Image, error) {
	return FillImage(int64(len(memory)), func(to []byte) error {
		return Runs(memory, func(offset int64, part []byte) error {
			copy(to[offset:], part)
			return nil
		})
	})
}

// FillImage returns an image of so many bytes, which fill writes to a memory of zeros.
func FillImage(size int64, fill func(memory []byte) error) (*Image, error) {
	i := &Image{size: size}
	if err := i.storage.fill(size, fill); err != nil {
		return nil, err
	}
	return i, nil
}

// Size returns how many bytes the image has.
func (i *Image) Size() int64 { return i.size }

// Close gives the image back. Memories that were made of it stay.
func (i *Image) Close() error { return i.storage.close() }

const hostPage = 4096

// Runs calls do for each part of a memory that is not zero.
func Runs(memory []byte, do func(offset int64, part []byte) error) error {
	for off := 0; off < len(memory); {
		end := off
		for end < len(memory) && !isZero(memory[end:end+hostPage]) {
			end += hostPage
		}
		if end > off {
			if err := do(int64(off), memory[off:end]); err != nil {
				return err
			}
		}
		off = end + hostPage
	}
	return nil
}

func isZero(page []byte) bool { return bytes.Equal(page, zeros[:]) }

var zeros [hostPage]byte
