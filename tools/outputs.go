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
)

// errOutput is what reading an output that is not there wraps.
var errOutput = errors.New("no such output")

// An OutputStore keeps the whole output of runs for reading page by page. It
// keeps the newest within its bounds. It is safe for concurrent use.
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
	secrets *Secrets // that cleaning may still put together
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

// put keeps res and returns id, or nothing where res is too large to keep.
func (s *OutputStore) put(id string, res *codeinterp.Result, secrets *Secrets) string {
	size := 1<<10 + resultSize(res)
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.maxBytes {
		return ""
	}
	if old, ok := s.byID[id]; ok {
		s.bytes -= old.size
		s.order = slices.DeleteFunc(s.order, func(known string) bool { return known == id })
	}
	s.byID[id] = &storedOutput{res, secrets, size}
	s.order = append(s.order, id)
	s.bytes += size
	for s.bytes > s.maxBytes || len(s.order) > s.maxCount {
		s.bytes -= s.byID[s.order[0]].size
		delete(s.byID, s.order[0])
		s.order = s.order[1:]
	}
	return id
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
// an output, cleaned like a reply's text: "stdout", "stderr", "display" for the
// texts of displays and of the value, or "error". Offsets count bytes of that
// text, in which secrets are replaced already: none is split over two pages.
func (s *OutputStore) Read(id, stream string, offset, limit int64) (Page, error) {
	o := s.get(id)
	if o == nil {
		return Page{}, fmt.Errorf("%w: %q; only recent ones are kept", errOutput, clip(id, 60))
	}
	want, ok := map[string]class{"": stdout, "stdout": stdout, "stderr": stderr, "display": bundles, "error": failure}[stream]
	if !ok || offset < 0 || limit < 1 {
		return Page{}, fmt.Errorf("%w: stream %q, offset %d, limit %d", codeinterp.ErrInvalid, clip(stream, 60), offset, limit)
	}
	p := pager{offset: offset, limit: limit}
	o.each(want, p.take)
	return p.page(), nil
}

// each passes all text of a class to emit, cleaned and scrubbed.
func (o *storedOutput) each(want class, emit func([]byte)) {
	w := o.secrets.writer(emit)
	for i := range o.res.Outputs {
		out := &o.res.Outputs[i]
		c, raw, _ := source(out)
		if c != want {
			continue
		}
		if out.Dropped > 0 {
			w.gap()
			emit([]byte(loss{out.Dropped, -1}.String() + "\n"))
		}
		walk(raw, w.write)
		if c == bundles && len(raw) > 0 && raw[len(raw)-1] != '\n' {
			w.write(newline)
		}
	}
	if e := o.res.Error; want == failure && e != nil {
		for _, line := range append(slices.Clone(e.Traceback), e.Error()) {
			walk([]byte(line+"\n"), w.write)
		}
	}
	w.flush()
}

// A pager cuts a page out of the pieces of a text.
type pager struct {
	offset, limit int64
	at            int64
	text          []byte
}

func (p *pager) take(b []byte) {
	from := max(p.offset-p.at, 0)
	to := min(p.offset+p.limit+3-p.at, int64(len(b)))
	if from < to {
		p.text = append(p.text, b[from:to]...)
	}
	p.at += int64(len(b))
}

// page ends the page at a rune.
func (p *pager) page() Page {
	start, end := 0, len(p.text)
	for start < min(3, end) && p.offset > 0 && !utf8.RuneStart(p.text[start]) {
		start++
	}
	if int64(end) > p.limit {
		end = int(p.limit)
		for end > start && !utf8.RuneStart(p.text[end]) {
			end--
		}
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

func (k *kit) readOutput(ctx context.Context, c Call, name string, in *readArgs) *Reply {
	page, err := k.Outputs.Read(in.OutputID, in.Stream, in.Offset, cmp.Or(in.Limit, k.limits.maxRead))
	if err != nil {
		return k.failed(ctx, c, name, err)
	}
	r := answer(c.ID, name, page)
	if r.Text = page.Text; r.Text == "" {
		r.Text = "[nothing here]"
	}
	if page.NextOffset > 0 {
		r.Text += fmt.Sprintf("\n[... the next page starts at offset %d of %d ...]", page.NextOffset, page.Total)
	}
	return r
}
