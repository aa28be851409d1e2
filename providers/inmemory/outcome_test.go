package inmemory_test

import (
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
)

// TestValueOfStopped: a run that is stopped has the value that was known.
func TestValueOfStopped(t *testing.T) {
	s := open(t, nil)
	res, err := s.RunCode(t.Context(), "javascript", `setInterval(() => {}, 5); "known"`, &codeinterp.RunOptions{Timeout: 300 * time.Millisecond})
	if err != nil || res.Status != codeinterp.StatusTimeout || res.Text() != "known" || res.Error != nil {
		t.Errorf("%s, %q, %v, %v", res.Status, res.Text(), res.Error, err)
	}
}

// TestProxyOfError: a proxy of an error is that error.
func TestProxyOfError(t *testing.T) {
	s := open(t, nil)
	res, err := s.RunCode(t.Context(), "javascript", "\nthrow new Proxy(new Proxy(new TypeError('m'), {}), { get() { throw 1 } })", nil)
	if err != nil || res.Error == nil || res.Error.Name != "TypeError" || res.Error.Message != "m" || res.Error.Line != 2 {
		t.Errorf("%+v, %v", res.Error, err)
	}
	res, err = s.RunCode(t.Context(), "javascript", "const { proxy, revoke } = Proxy.revocable(new Error('m'), {}); revoke(); throw proxy", nil)
	if err != nil || res.Error == nil || res.Error.Name != "Uncaught" {
		t.Errorf("%+v, %v", res.Error, err)
	}
}
