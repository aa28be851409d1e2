package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	maxEvent = 16 << 20 // bytes of one event of a stream
	maxReply = 64 << 20 // bytes of an answer of the API
)

// errDone ends a stream before its end.
var errDone = errors.New("done")

// An assembler makes one answer of the events of a stream. say is called with
// each piece of the model's text.
type assembler interface {
	event(data []byte, say func(string)) error
	// reply returns the answer as the API sends it without streaming.
	reply() (json.RawMessage, error)
}

// read reads an answer of the API, which may be a stream of events.
func read(body io.Reader, say func(string), a assembler) (json.RawMessage, error) {
	if say == nil {
		say = func(string) {}
	}
	r := bufio.NewReader(&io.LimitedReader{R: body, N: maxReply})
	for {
		c, err := r.ReadByte()
		if err != nil {
			return nil, broken(err)
		}
		if strings.IndexByte(" \t\r\n\xef\xbb\xbf", c) >= 0 {
			continue
		}
		if err := r.UnreadByte(); err != nil {
			return nil, err
		}
		handle := func(data []byte) error { return a.event(data, say) }
		if c == '{' || c == '[' {
			err = values(r, handle)
		} else {
			err = events(r, handle)
		}
		if err != nil && !errors.Is(err, errDone) {
			return nil, err
		}
		return a.reply()
	}
}

// broken returns the error for a stream that could not be read to its end.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("format: %w", ErrIncomplete)
	}
	return fmt.Errorf("format: %w: %w", ErrIncomplete, err)
}

// values calls handle with each JSON value, and with each element of an array.
func values(r io.Reader, handle func([]byte) error) error {
	d := json.NewDecoder(r)
	for {
		var v json.RawMessage
		if err := d.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return broken(err)
		}
		list := []json.RawMessage{v}
		if v[0] == '[' {
			if err := json.Unmarshal(v, &list); err != nil {
				return broken(err)
			}
		}
		for _, one := range list {
			if err := handle(one); err != nil {
				return err
			}
		}
	}
}

// events calls handle with the data of each server-sent event.
func events(r io.Reader, handle func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvent)
	var data []byte
	has := false
	flush := func() error {
		if !has {
			return nil
		}
		has = false
		return handle(data)
	}
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if err := flush(); err != nil {
				return err
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if has {
			data = append(data, '\n')
		} else {
			data, has = nil, true
		}
		if data = append(data, bytes.TrimPrefix(value, []byte(" "))...); len(data) > maxEvent {
			return fmt.Errorf("format: an event of more than %d bytes", maxEvent)
		}
	}
	if err := lines.Err(); err != nil {
		return broken(err)
	}
	return flush()
}

// An object is a JSON object whose unknown members are kept as they came.
type object map[string]json.RawMessage

// text returns a member that is a string, otherwise "".
func (o object) text(name string) (s string) {
	_ = json.Unmarshal(o[name], &s)
	return s
}

// has reports whether there is such a member that is not null.
func (o object) has(name string) bool { return len(o[name]) > 0 && string(o[name]) != "null" }

// list returns a member that is a list of objects, nil if there is none.
func (o object) list(name string) (list []object, err error) {
	if o.has(name) {
		if err = json.Unmarshal(o[name], &list); err != nil {
			err = fmt.Errorf("format: %s: %w", name, err)
		}
	}
	return list, err
}

func (o object) set(name string, v any) { o[name] = marshal(v) }

// A merger makes one object of many that each hold a part of it: texts are
// joined, other members replaced.
type merger struct {
	fields object
	texts  map[string]*strings.Builder
}

// setOnce are the members that are texts and yet not joined.
var setOnce = []string{"role", "type", "id"}

// add takes in a part, without the members that are excepted.
func (m *merger) add(part object, except ...string) {
	for name, v := range part {
		if !part.has(name) || slices.Contains(except, name) {
			continue
		}
		if v[0] == '"' && !slices.Contains(setOnce, name) {
			m.addText(name, part.text(name))
			continue
		}
		if string(v) == `""` {
			continue
		}
		if m.fields == nil {
			m.fields = object{}
		}
		m.fields[name] = v
	}
}

func (m *merger) addText(name, text string) {
	if m.texts == nil {
		m.texts = map[string]*strings.Builder{}
	}
	if m.texts[name] == nil {
		m.texts[name] = &strings.Builder{}
	}
	m.texts[name].WriteString(text)
}

// object returns what was put together.
func (m *merger) object() object {
	o := object{}
	maps.Copy(o, m.fields)
	for name, b := range m.texts {
		o.set(name, b.String())
	}
	return o
}
