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

// TestOrder: who wants much gets it before those who came later and want little.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r room.Room
		r.Take(50, 100, nil, nil)
		gone, large, small := make(chan struct{}), make(chan bool, 1), make(chan bool, 1)
		go func() { large <- r.Take(90, 100, gone, nil) }()
		synctest.Wait()
		go func() { small <- r.Take(10, 100, nil, nil) }()
		synctest.Wait()
		if r.Used() != 50 {
			t.Errorf("%d are taken past who waits", r.Used())
		}
		r.Free(50)
		if !<-large || !<-small || r.Used() != 100 {
			t.Errorf("%d are taken", r.Used())
		}
		go func() { large <- r.Take(90, 100, gone, nil) }()
		synctest.Wait()
		go func() { small <- r.Take(0, 100, nil, nil) }()
		synctest.Wait()
		close(gone)
		if <-large || !<-small {
			t.Error("who waited behind one that has gone goes on waiting")
		}
	})
}
