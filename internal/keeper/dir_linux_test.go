package keeper

import (
	"strconv"
	"testing"
)

// TestClaimBesideSweeps: a keeper that starts gets its key, however many processes list
// the keepers meanwhile, and remove what dead ones left.
func TestClaimBesideSweeps(t *testing.T) {
	d := Dir(t.TempDir())
	for range 4 {
		go func() {
			for t.Context().Err() == nil {
				d.Keepers("*")
			}
		}()
	}
	for n := range 500 {
		c, err := d.Claim(strconv.Itoa(n), 0)
		if err != nil {
			t.Fatal(n, err)
		}
		if _, err := d.Claim(strconv.Itoa(n), 0); err != ErrTaken {
			t.Fatal(n, err)
		}
		if n%2 == 0 {
			c.Close()
		} else {
			c.lock.Close() // as a kill does
		}
	}
	if list := d.Keepers("*"); len(list) > 0 {
		t.Error(list)
	}
}
