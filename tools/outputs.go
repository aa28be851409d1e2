package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/callers"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/scrub"
	"github.com/toolcell/toolcell/internal/shorten"
)

// errOutput is what reading an output that is not there wraps.
var errOutput = errors.New("no such output")

// An OutputStore keeps the whole output of runs for reading page by page, the
// newest within its bounds. If several clients of a server share it, the oldest output
// of the client with the most is dropped first. It is safe for
// concurrent use.
type OutputStore struct {
	mu       sync.Mutex
	byID     map[string]*storedOutput
	order    []string // oldest first
	used     map[any]usage
	bytes    int
	maxBytes int
	maxCount int
}

// usage is what one client has in a store.
type usage struct {
	bytes, count int
	stop         func() bool // of what forgets it at its client's end
}

// OutputStoreOptions tunes an [OutputStore]. The zero value is ready to use.
type OutputStoreOptions struct {
	MaxBytes int // zero means 64 MiB
	MaxCount int // zero means 256
}

type storedOutput struct {
	res     *codeinterp.Result
	secrets *scrub.Set // that cleaning may still put together
	client  any
	size    int
}

// NewOutputStore makes an empty store. opts may be nil.
func NewOutputStore(opts *OutputStoreOptions) *OutputStore {
	if opts == nil {
		opts = &OutputStoreOptions{}
	}
	return &OutputStore{
		byID:     map[string]*storedOutput{},
		used:     map[any]usage{},
		maxBytes: cmp.Or(opts.MaxBytes, 64<<20),
		maxCount: cmp.Or(opts.MaxCount, 256),
	}
}

// put keeps res and returns id, or nothing where res is too large to keep.
func (s *OutputStore) put(ctx context.Context, id string, res *codeinterp.Result, secrets *scrub.Set) string {
	o := &storedOutput{res, secrets, callers.Of(ctx), 1<<10 + resultSize(res)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.size > s.maxBytes {
		return ""
	}
	if _, ok := s.byID[id]; ok {
		s.drop(id)
	}
	life := callers.Life(ctx)
	// The client has gone, and what forgets its outputs has come, and comes but once.
	if life.Err() != nil {
		return ""
	}
	s.byID[id] = o
	s.order = append(s.order, id)
	s.count(o, 1)
	if u := s.used[o.client]; u.stop == nil {
		u.stop = context.AfterFunc(life, func() { s.forget(o.client) })
		s.used[o.client] = u
	}
	for s.bytes > s.maxBytes || len(s.order) > s.maxCount {
		s.drop(s.victim(s.bytes > s.maxBytes))
	}
	return id
}

// victim returns the oldest output of the client that has the most bytes, or
// outputs, of all.
func (s *OutputStore) victim(byBytes bool) string {
	most := 0
	for _, u := range s.used {
		most = max(most, u.of(byBytes))
	}
	i := slices.IndexFunc(s.order, func(id string) bool { return s.used[s.byID[id].client].of(byBytes) == most })
	return s.order[i]
}

func (u usage) of(bytes bool) int {
	if bytes {
		return u.bytes
	}
	return u.count
}

// forget drops all that is kept for a client.
func (s *OutputStore) forget(client any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Clone(s.order) {
		if s.byID[id].client == client {
			s.drop(id)
		}
	}
}

func (s *OutputStore) drop(id string) {
	s.count(s.byID[id], -1)
	delete(s.byID, id)
	s.order = slices.DeleteFunc(s.order, func(known string) bool { return known == id })
}

// count adds what o takes, n times.
func (s *OutputStore) count(o *storedOutput, n int) {
	s.bytes += n * o.size
	u := s.used[o.client]
	u.bytes, u.count = u.bytes+n*o.size, u.count+n
	if s.used[o.client] = u; u.count == 0 {
		if u.stop != nil {
			u.stop()
		}
		delete(s.used, o.client)
	}
}

// Result returns the whole outcome of the run whose output has that id. The
// caller must not change it.
func (s *OutputStore) Result(id string) (*codeinterp.Result, bool) {
	o := s.get(id)
	if o == nil {
		return nil, false
	}
	return o.res, true
}

func (s *OutputStore) get(id string) *storedOutput {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// A Page is a part of a text.
type Page struct {
	Text string `json:"text" jsonschema:"description=The page."`
	// Offset is the byte that the page starts at.
	Offset int64 `json:"offset" jsonschema:"description=The byte that the page starts at."`
	// NextOffset is where the next page starts, 0 if this is the last.
	NextOffset int64 `json:"nextOffset,omitempty" jsonschema:"description=Where the next page starts; there is none after the last."`
	// Total is the size of the whole text.
	Total int64 `json:"total" jsonschema:"description=The size of the whole text in bytes."`
}

// Read returns up to limit bytes, at least one whole character, of one part of
// an output, cleaned like an answer's text, but with all frames of progress bars: "stdout", "stderr", "display" for the
// texts of displays and of the value, or "error". Offsets count bytes of that
// text, in which secrets are replaced already: none is split over two pages.
func (s *OutputStore) Read(id, stream string, offset, limit int64) (Page, error) {
	return s.get(id).read(id, stream, offset, limit)
}

// read works on nil, which stands for an output that is not there.
func (o *storedOutput) read(id, stream string, offset, limit int64) (Page, error) {
	if o == nil {
		return Page{}, fmt.Errorf("%w: %q; only recent ones are kept", errOutput, shorten.Head(id, 60))
	}
	want, ok := map[string]class{"": stdout, "stdout": stdout, "stderr": stderr, "display": bundles, "error": failure}[stream]
	if !ok || offset < 0 || limit < 1 {
		return Page{}, fmt.Errorf("%w: stream %q, offset %d, limit %d", codeinterp.ErrInvalid, shorten.Head(stream, 60), offset, limit)
	}
	p := pager{offset: offset, limit: limit}
	o.each(want, p.take)
	return p.page(), nil
}

// each passes all text of a class to emit, cleaned and scrubbed.
func (o *storedOutput) each(want class, emit func([]byte)) {
	w := o.secrets.Writer(emit)
	clean := plaintext.Cleaner{Emit: w.Write, AllFrames: true}
	for i := range o.res.Outputs {
		out := &o.res.Outputs[i]
		c, raw, _ := source(out)
		if c != want {
			continue
		}
		if out.Dropped > 0 {
			w.Gap()
			// Past w, for which text goes on after the gap: this line is ours.
			emit([]byte(loss{out.Dropped, -1}.String() + "\n"))
		}
		clean.Clean(raw)
		if c == bundles && len(raw) > 0 && raw[len(raw)-1] != '\n' {
			w.Write(newline)
		}
	}
	if e := o.res.Error; want == failure && e != nil {
		for _, line := range append(slices.Clone(e.Traceback), e.Error()) {
			clean.Clean([]byte(line + "\n"))
		}
	}
	w.Flush()
}

// A pager cuts a page out of the pieces of a text.
type pager struct {
	offset, limit int64
	at            int64
	text          []byte
}

func (p *pager) take(b []byte) {
	from := max(p.offset-p.at, 0)
	// Three bytes more than a page has: a rune at its end is to be seen whole.
	to := min(p.offset+p.limit+3-p.at, int64(len(b)))
	if from < to {
		p.text = append(p.text, b[from:to]...)
	}
	p.at += int64(len(b))
}

// page ends the page at a rune.
func (p *pager) page() Page {
	start, end := 0, len(p.text)
	// A model may make up an offset within a rune.
	for start < min(3, end) && p.offset > 0 && !utf8.RuneStart(p.text[start]) {
		start++
	}
	if int64(end) > p.limit {
		end = int(p.limit)
		for end > start && !utf8.RuneStart(p.text[end]) {
			end--
		}
		// A limit smaller than the rune: without it there would be no way on.
		if end <= start {
			for end = start + 1; end < len(p.text) && !utf8.RuneStart(p.text[end]); end++ {
			}
		}
	}
	page := Page{Text: string(p.text[start:max(start, end)]), Offset: min(p.offset+int64(start), p.at), Total: p.at}
	if next := p.offset + int64(end); next < p.at && end > 0 {
		page.NextOffset = next
	}
	return page
}

func (k *kit) readOutput(ctx context.Context, c toolCall) *Answer {
	o := k.Outputs.get(c.outputID)
	// Another client's is answered like one that never was.
	if o != nil && o.client != callers.Of(ctx) {
		o = nil
	}
	page, err := o.read(c.outputID, c.stream, c.offset, cmp.Or(c.limit, k.limits.maxRead))
	if err != nil {
		return k.failed(ctx, c, err)
	}
	r := answer(c.ID, c.Tool, page)
	r.Text = page.String()
	return r
}

// String is what a model reads: a line about the page, then the page, of which no
// line is ours.
func (p Page) String() string {
	if p.Text == "" {
		return fmt.Sprintf("[nothing here; there are %d bytes]", p.Total)
	}
	about := fmt.Sprintf("[bytes %d to %d of %d; ", p.Offset, p.Offset+int64(len(p.Text)), p.Total)
	if p.NextOffset > 0 {
		return about + fmt.Sprintf("the next page starts at offset %d]\n", p.NextOffset) + p.Text
	}
	return about + "this is its end]\n" + p.Text
}
