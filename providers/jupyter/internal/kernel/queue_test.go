package kernel

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/providers/jupyter/internal/wire"
)

// TestQueueCountsWhatItHolds: what waits for a slow OnOutput is bounded by its size,
// so that an event is to hold nothing beside it, whatever a kernel puts into headers.
func TestQueueCountsWhatItHolds(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for typ, content := range map[string]string{
		"stream":          fmt.Sprintf(`{"text": "x", "name": %q}`, long),
		"clear_output":    `{}`,
		"display_data":    `{"data": {"text/plain": "x"}}`,
		"error":           `{"ename": "E"}`,
		"execute_reply":   `{"status": "ok"}`,
		"status":          `{"execution_state": "busy"}`,
		"execute_request": `{}`,
	} {
		e := &execution{k: &Kernel{cfg: &Config{MaxMessage: 64 << 20}}, q: newQueue(), wake: make(chan struct{}, 1)}
		h := wire.Header{ID: long, Type: typ, Session: long, User: long, Date: long, Version: long}
		for _, late := range []bool{false, true} {
			f := &frame{Size: -1, Msg: wire.Message{Channel: "iopub", Header: h, Parent: h, Content: json.RawMessage(content)}}
			if err := e.receive(f, late); err != nil {
				t.Errorf("%s: %v", typ, err)
			}
		}
		for i := range e.q.items {
			ev := &e.q.items[i]
			if held := holds(reflect.ValueOf(ev)); held > ev.size()+1<<10 {
				t.Errorf("%s: %d bytes are held and %d counted", typ, held, ev.size())
			}
		}
	}
}

// holds is how many bytes of text hang on a value.
func holds(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer:
		if !v.IsNil() {
			return holds(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += holds(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Cap()
		}
		for i := range v.Len() {
			n += holds(v.Index(i))
		}
	}
	return n
}
