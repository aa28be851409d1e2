package keeper

import (
	"strconv"
	"testing"
)

// TestListenBesideSweeps: a keeper that starts gets its key, however many processes list
// the keepers meanwhile, and remove what dead ones left.
func TestListenBesideSweeps(t *testing.T) {
	d := Dir(t.TempDir())
	for range 4 {
		go func() {
			for t.Context().Err() == nil {
				d.Keepers("*")
			}
		}()
	}
	for n := range 500 {
		ln, err := d.Listen(strconv.Itoa(n), 0)
		if err != nil {
			t.Fatal(n, err)
		}
		if _, err := d.Listen(strconv.Itoa(n), 0); err != ErrTaken {
			t.Fatal(n, err)
		}
		if conn, err := d.Dial(strconv.Itoa(n)); err != nil {
			t.Fatal(n, err)
		} else {
			conn.Close()
		}
		ln.Close() // as a kill does
	}
	if list := d.Keepers("*"); len(list) > 0 {
		t.Error(list)
	}
}
