package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/codeinterp/driver"
)

// An outliving toy has machines that can be detached.
type outliving struct {
	toy
	machines *sync.Map // by their references
}

const toyRef = "toy-"

// Refer implements driver.Attacher.
func (t outliving) Refer(s driver.Session) (codeinterp.Ref, error) {
	ref := codeinterp.Ref(fmt.Sprintf("%s%p", toyRef, s))
	t.machines.Store(ref, s)
	return ref, nil
}

// Detach implements driver.Attacher.
func (t outliving) Detach(_ context.Context, s driver.Session, _ func() codeinterp.Result) (codeinterp.Ref, error) {
	return t.Refer(s)
}

// Attach implements driver.Attacher.
func (t outliving) Attach(_ context.Context, ref codeinterp.Ref, late func(codeinterp.Output)) (driver.Attached, error) {
	m, ok := t.machines.LoadAndDelete(ref)
	switch {
	case ok:
		m := m.(*machine)
		m.o.Late = late
		return driver.Attached{Session: m, Language: "toy", Options: m.o.ContextOptions}, nil
	case strings.HasPrefix(string(ref), toyRef):
		return driver.Attached{}, codeinterp.ErrContext
	}
	return driver.Attached{}, codeinterp.ErrInvalid
}
