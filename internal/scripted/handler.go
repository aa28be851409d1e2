package scripted

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// maxRequest is how large a request's body may be.
const maxRequest = 32 << 20

// Handler serves the model at POST .../chat/completions, as OpenAI does, and
// at POST .../messages, as Anthropic does. A key must be given and may be any.
func Handler(m Model) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v vendor
		switch {
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			v = openAI{}
		case strings.HasSuffix(r.URL.Path, "/messages"):
			v = anthropic{}
		default:
			http.NotFound(w, r)
			return
		}
		serve(w, r, m, v)
	})
}

// A vendor is the form of an API.
type vendor interface {
	// authorized says what is wrong with the request's headers.
	authorized(h http.Header) *refusal
	// decode checks a body.
	decode(body []byte) (*request, *refusal)
	// refuse writes an error.
	refuse(w http.ResponseWriter, r *refusal)
	// whole writes a turn as one JSON value, stream as events.
	whole(w io.Writer, q *request, t Turn) error
	stream(w *events, q *request, t Turn) error
}

// A request is what was decoded from a body.
type request struct {
	model        string
	stream       bool
	usage        bool // wanted at the end of the stream
	conversation Conversation
}

// A refusal is an error that the API answers with.
type refusal struct {
	status  int
	kind    string
	message string
}

func refuse(format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...)}
}

func serve(w http.ResponseWriter, r *http.Request, m Model, v vendor) {
	q, no := read(w, r, v)
	if no != nil {
		v.refuse(w, no)
		return
	}
	t, err := m(r.Context(), &q.conversation)
	if err != nil {
		v.refuse(w, &refusal{http.StatusInternalServerError, "api_error", err.Error()})
		return
	}
	if !q.stream {
		w.Header().Set("Content-Type", "application/json")
		_ = v.whole(w, q, t)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	e := &events{w: w, flush: http.NewResponseController(w).Flush}
	if err := v.stream(e, q, t); err != nil && r.Context().Err() == nil {
		panic(http.ErrAbortHandler)
	}
}

func read(w http.ResponseWriter, r *http.Request, v vendor) (*request, *refusal) {
	if r.Method != http.MethodPost {
		return nil, &refusal{http.StatusMethodNotAllowed, "invalid_request_error", "use POST"}
	}
	if no := v.authorized(r.Header); no != nil {
		return nil, no
	}
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		return nil, refuse("Content-Type is %q, not application/json", r.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return nil, &refusal{http.StatusRequestEntityTooLarge, "request_too_large", err.Error()}
	}
	return v.decode(body)
}

// events writes a stream of server-sent events.
type events struct {
	w     io.Writer
	flush func() error
}

// send writes an event; its name is left out if it is empty.
func (e *events) send(name string, data any) error {
	b, ok := data.([]byte)
	if !ok {
		var err error
		if b, err = json.Marshal(data); err != nil {
			return err
		}
	}
	if name != "" {
		if _, err := fmt.Fprintf(e.w, "event: %s\n", name); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(e.w, "data: %s\n\n", b); err != nil {
		return err
	}
	return e.flush()
}

// pieces cuts text into what arrives at a time: words, or a few bytes.
func pieces(text string) []string {
	var list []string
	for len(text) > 0 {
		n := min(12, len(text))
		if i := strings.IndexByte(text[1:], ' ') + 1; i > 0 {
			n = i
		} else {
			for n < len(text) && text[n]&0xC0 == 0x80 {
				n++
			}
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
