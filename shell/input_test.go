package shell

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestWritersWait: several writers to a command that reads nothing wait for it, and
// not for each other.
func TestWritersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe(make([]byte, maxInput), func() {})
		done := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := p.write(t.Context(), make([]byte, maxInput), false)
				done <- err
			}()
		}
		synctest.Wait() // which returns once all wait
		p.Read(make([]byte, 1))
		synctest.Wait()
		p.Close()
		for range 2 {
			if err := <-done; !errors.Is(err, codeinterp.ErrInvalid) {
				t.Error(err)
			}
		}
	})
}
