package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent is how large an event may be.
const maxEvent = 16 << 20

// An event is one of a stream of server-sent events.
type event struct {
	name string
	data []byte
}

// errDone ends a stream whose reader has all it needs.
var errDone = errors.New("done")

// readEvents calls handle with each event of the stream until it ends, or
// handle returns an error. errDone is an end, not an error.
func readEvents(r io.Reader, handle func(event) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvent)
	var e event
	has := false
	flush := func() error {
		if !has {
			return nil
		}
		done := e
		e, has = event{}, false
		return handle(done)
	}
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if err := flush(); err != nil {
				return ended(err)
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.name = string(value)
		case "data":
			if has {
				e.data = append(e.data, '\n')
			}
			e.data, has = append(e.data, value...), true
		}
		if len(e.data) > maxEvent {
			return fmt.Errorf("event of more than %d bytes", maxEvent)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return ended(flush())
}

func ended(err error) error {
	if errors.Is(err, errDone) {
		return nil
	}
	return err
}
