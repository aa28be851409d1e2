package machine

import "encoding/binary"

// An Image is what memories begin as. It may be used from any goroutine.
type Image struct {
	size int64
	storage
}

// NewImage returns an image of a memory, whose size is a multiple of 64 KiB.
func NewImage(memory []byte) (*Image, error) {
	i := &Image{size: int64(len(memory))}
	return i, i.storage.fill(memory)
}

// Size returns how many bytes the image has.
func (i *Image) Size() int64 { return i.size }

// Close gives the image back. Memories that were made of it stay.
func (i *Image) Close() error { return i.storage.close() }

const hostPage = 4096

// runs calls do for each part of a memory that is not zero.
func runs(memory []byte, do func(offset int64, part []byte) error) error {
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

func isZero(page []byte) bool {
	for ; len(page) > 0; page = page[8:] {
		if binary.LittleEndian.Uint64(page) != 0 {
			return false
		}
	}
	return true
}
