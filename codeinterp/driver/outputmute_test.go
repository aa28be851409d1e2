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
