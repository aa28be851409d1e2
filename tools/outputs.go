package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
// newest within its bounds. It is safe for concurrent use.
type OutputStore struct {
	mu       sync.Mutex
	byID     map[string]*storedOutput
	order    []string // oldest first
	bytes    int
	maxBytes int
	maxCount int
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
		maxBytes: cmp.Or(opts.MaxBytes, 64<<20),
		maxCount: cmp.Or(opts.MaxCount, 256),
	}
}

// put keeps res and returns id, or "" if res is too large.
func (s *OutputStore) put(ctx context.Context, id string, res *codeinterp.Result, secrets *scrub.Set) string {
	o := &storedOutput{res, secrets, callers.Of(ctx), 1<<10 + resultSize(res)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.size > s.maxBytes {
		return ""
	}
	if old := s.byID[id]; old != nil {
		s.bytes -= old.size
		s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
	}
	s.byID[id] = o
	s.order = append(s.order, id)
	for s.bytes += o.size; s.bytes > s.maxBytes || len(s.order) > s.maxCount; s.order = s.order[1:] {
		s.bytes -= s.byID[s.order[0]].size
		delete(s.byID, s.order[0])
	}
	return id
}

// resultSize estimates the memory that a Result holds.
func resultSize(res *codeinterp.Result) (n int) {
	for i := range res.Outputs {
		n += 512 + res.Outputs[i].Size()
	}
	if e := res.Error; e != nil {
		n += len(e.Message) + len(strings.Join(e.Traceback, "\n")) + len(strings.Join(e.RawTraceback, "\n"))
	}
	for i := range res.Artifacts {
		n += 512 + len(res.Artifacts[i].Data)
	}
	for i := range res.Calls {
		n += 512 + len(res.Calls[i].Args) + len(res.Calls[i].Result)
	}
	return n
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
	text := o.secrets.Text()
	clean := plaintext.Cleaner{Emit: func(p []byte) { emit(text.Next(p)) }, AllFrames: true}
	add := func(raw []byte) {
		clean.Clean(raw)
		emit(text.End())
	}
	for i := range o.res.Outputs {
		out := &o.res.Outputs[i]
		c, raw, _ := source(out)
		if c != want {
			continue
		}
		if out.Dropped > 0 {
			emit([]byte(loss{out.Dropped, -1}.String() + "\n"))
		}
		add(raw)
		if c == bundles && len(raw) > 0 && raw[len(raw)-1] != '\n' {
			emit(newline)
		}
	}
	if e := o.res.Error; want == failure && e != nil {
		add([]byte(strings.Join(append(slices.Clone(e.Traceback), e.Error()), "\n") + "\n"))
	}
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
