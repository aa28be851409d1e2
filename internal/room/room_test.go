package room_test

import (
	"testing"
	"testing/synctest"

	"github.com/toolcell/toolcell/internal/room"
)

func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r room.Room
		if !r.Take(200, 100, nil, nil) {
			t.Fatal("no room for one alone")
		}
		gone, took := make(chan struct{}), make(chan bool)
		go func() { took <- r.Take(1, 100, gone, nil) }()
		synctest.Wait()
		close(gone)
		if <-took {
			t.Error("taken by who has gone")
		}
		go func() { took <- r.Take(60, 100, nil, nil) }()
		go func() { took <- r.Take(40, 100, nil, nil) }()
		synctest.Wait()
		r.Free(200)
		for range 2 {
			if !<-took {
				t.Error("not taken although there is room")
			}
		}
	})
}
