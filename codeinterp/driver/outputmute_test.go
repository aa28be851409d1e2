package driver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

func TestMuteKeepsAndTells(t *testing.T) {
	seen := 0
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(codeinterp.Output) error { seen++; return nil }})
	c.Write(codeinterp.Stdout, []byte("a"))
	c.Mute()
	c.Write(codeinterp.Stdout, []byte("b"))
	res := finish(c)
	if seen != 1 || res.Stdout() != "ab" || res.CallbackErr == nil || !strings.Contains(res.CallbackErr.Error(), "1 outputs") {
		t.Errorf("seen %d, stdout %q, %v", seen, res.Stdout(), res.CallbackErr)
	}
}

func TestOwn(t *testing.T) {
	c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 100 << 10})
	const size = 16 << 10
	for i := range 64 {
		b := c.Spare(size)
		for j := range b {
			b[j] = 'a' + byte(i%26)
		}
		if i == 7 {
			copy(b[size-2:], "\xe2\x82") // the rest of the letter comes next
		}
		if !c.Own(codeinterp.Stdout, b) {
			t.Fatal("not taken")
		}
	}
	var res codeinterp.Result
	c.Finish(&res)
	if len(res.Outputs) != 2 || res.Truncated[0].Bytes != 64*size || res.Truncated[0].Kept > 100<<10 {
		t.Fatalf("got %d outputs, %+v", len(res.Outputs), res.Truncated)
	}
	head, tail := res.Outputs[0].Data, res.Outputs[1].Data
	if head[0] != 'a' || head[size] != 'b' || tail[len(tail)-1] != 'a'+63%26 || tail[len(tail)-size-1] != 'a'+62%26 {
		t.Error("chunks were overwritten")
	}
	if c.Own(codeinterp.Stdout, []byte("late")) {
		t.Error("taken after Finish")
	}
}

// TestMuteFreesTheWriter: from Mute on only Finish waits for OnOutput.
func TestMuteFreesTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var over bool
		c := driver.NewOutput(&codeinterp.RunOptions{MaxOutput: 1000, OnOutput: func(codeinterp.Output) error {
			time.Sleep(time.Hour)
			over = true
			return errors.New("slow")
		}})
		wrote := make(chan struct{})
		go func() { c.Write(codeinterp.Stdout, []byte("a")); close(wrote) }()
		synctest.Wait()
		c.Mute()
		start := time.Now()
		<-wrote
		c.Write(codeinterp.Stdout, []byte("b"))
		if time.Since(start) != 0 {
			t.Error("a writer waited for OnOutput")
		}
		res := finish(c)
		if !over || res.Stdout() != "ab" || !strings.Contains(fmt.Sprint(res.CallbackErr), "slow") {
			t.Errorf("over %v, %q, %v", over, res.Stdout(), res.CallbackErr)
		}
	})
}
