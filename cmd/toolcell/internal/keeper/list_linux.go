package keeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// A Note says what a keeper is.
type Note struct {
	PID   int
	Since time.Time
	Runs  int    // that it has served
	Keep  string // as it was asked for
	Serve string // what it serves, for people
}

// noteSize is that of each note, so that one is whole at any time.
const noteSize = 1 << 10

// Note writes into the lock who holds it.
func (l *Lock) Note(n Note) error {
	l.noting.Lock()
	defer l.noting.Unlock()
	l.about = n
	return l.write()
}

// served counts a run in the note.
func (l *Lock) served() {
	l.noting.Lock()
	defer l.noting.Unlock()
	l.about.Runs++
	_ = l.write()
}

func (l *Lock) write() error {
	n := l.about
	n.Serve = n.Serve[:min(len(n.Serve), noteSize/4)]
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	_, err = l.file.WriteAt(append(b, bytes.Repeat([]byte(" "), max(0, noteSize-len(b)))...), 0)
	return err
}

// A Kept is a keeper that is there.
type Kept struct {
	Note
	Key Key
}

// List returns the keepers that are there.
func (p *Place) List() (list []Kept) {
	for _, key := range p.keys() {
		if !p.held(lockOf(key)) {
			continue
		}
		file, err := p.open(lockOf(key), unix.O_RDWR)
		if err != nil {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(file, maxPiece))
		file.Close()
		k := Kept{Key: key}
		if err == nil && json.Unmarshal(b, &k.Note) == nil && k.PID > 0 {
			list = append(list, k)
		}
	}
	return list
}

// Stop ends a keeper, once it has served the call that it may be at, and waits for
// that. It is asked over its socket: the number in the note is its own word, which
// whoever may write here could have given.
func (p *Place) Stop(ctx context.Context, k Kept) error {
	for asked := false; p.held(lockOf(k.Key)); {
		if !asked {
			_, err := p.Offer(k.Key, "", &Order{stop: true})
			asked = errors.Is(err, ErrRefused) // else it has not begun to listen, or hears too many
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}
