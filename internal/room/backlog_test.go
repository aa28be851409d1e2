package room

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Backlog{Most: 10}
		b.Add(10)
		if !b.Wait(t.Context()) {
			t.Error("waits where there is no more than that")
		}
		b.Add(1)
		ended, end := context.WithCancel(t.Context())
		got := make(chan bool, 2)
		go func() { got <- b.Wait(ended) }()
		synctest.Wait()
		end()
		if <-got {
			t.Error("goes on after its context's end")
		}
		for range 2 {
			go func() { got <- b.Wait(t.Context()) }()
		}
		synctest.Wait()
		b.Add(-1)
		if first, second := <-got, <-got; !first || !second || b.Bytes() != 10 {
			t.Error("one who waited does not go on")
		}
	})
}
