package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
)

// minSecret is the least length of a secret that is removed from messages.
const minSecret = 8

// secretsOf returns a replacer for the credentials of a configuration.
func secretsOf(cfg *Config) *strings.Replacer {
	list := []string{cfg.Token, cfg.Password}
	for _, values := range cfg.Header {
		for _, v := range values {
			_, credential, _ := strings.Cut(v, " ") // without its scheme
			list = append(list, v, credential)
		}
	}
	var pairs []string
	for _, s := range list {
		// Short ones occur by chance.
		if len(s) >= minSecret {
			pairs = append(pairs, s, "[secret]", url.QueryEscape(s), "[secret]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// A StatusError is a server's refusal of a request. It unwraps to
// [codeinterp.ErrCapacity] if a limit on kernels is reached, to
// [codeinterp.ErrContext] if a kernel is gone, and to
// [codeinterp.ErrUnavailable] otherwise.
type StatusError struct {
	Code    int    // HTTP status
	Request string // such as "POST api/kernels", without host and query
	Hint    string // the likely cause, in our words
	Message string // what the server said, shortened
	kind    error
}

// Error returns "what: request: status, likely cause (server's words)".
func (e *StatusError) Error() string {
	s := fmt.Sprintf("%v: %s: status %d", e.kind, e.Request, e.Code)
	if e.Hint != "" {
		s += ", " + e.Hint
	}
	if e.Message != "" {
		s += " (server: " + e.Message + ")"
	}
	return s
}

// Unwrap returns the sentinel.
func (e *StatusError) Unwrap() error { return e.kind }

// refused makes a StatusError of a response that is not the expected one.
func (c *Client) refused(req *http.Request, resp *http.Response, body []byte) *StatusError {
	e := &StatusError{
		Code:    resp.StatusCode,
		Request: req.Method + " " + strings.TrimPrefix(req.URL.Path, c.base.Path),
		Message: serverText(body, c.secrets),
		kind:    codeinterp.ErrUnavailable,
	}
	lower := strings.ToLower(e.Message)
	kernels := strings.Contains(e.Request, "api/kernels/") || strings.Contains(e.Request, "api/sessions/")
	starts := req.Method == http.MethodPost && (strings.HasSuffix(req.URL.Path, "api/kernels") || strings.HasSuffix(req.URL.Path, "api/sessions"))
	switch c := e.Code; {
	case c == 403 && starts && (strings.Contains(lower, "limit") || strings.Contains(lower, "maximum") || strings.Contains(lower, "exceed")):
		e.kind, e.Hint = codeinterp.ErrCapacity, "the server's limit on kernels is reached"
	case c == 401, c == 403:
		e.Hint = "the token or password for " + req.URL.Host + " is missing, wrong or lacks permission"
	case c/100 == 3:
		e.Hint = "the server redirects, which is not followed: " + redirectHint(resp)
	case c == 404 && kernels:
		e.kind, e.Hint = codeinterp.ErrContext, "the kernel is gone: culled, deleted, or the server restarted"
	case c == 404:
		e.Hint = "no Jupyter server under this path; check the base path of the URL"
	case c == 405:
		e.Hint = "the path answers, but not as a Jupyter server would; a JupyterHub user server may not be running"
	case c == 407:
		e.Hint = "the proxy wants a login; put it into the proxy's address"
	case c == 424:
		e.Hint = "the JupyterHub user server is not running; Options.Hub starts it"
	case c == 429, c == 507:
		e.kind, e.Hint = codeinterp.ErrCapacity, "the server asks to come back later"
	case c == 502, c == 503, c == 504:
		e.Hint = "the server is starting, overloaded or down"
	case c >= 500:
		e.Hint = "the server failed"
	}
	return e
}

func redirectHint(resp *http.Response) string {
	loc, err := resp.Location()
	switch {
	case err != nil:
		return "without a target"
	case strings.Contains(loc.Path, "/hub/"):
		return "to the Hub; its user server is not running, or the token is not for it"
	case strings.Contains(loc.Path, "login"):
		return "to the login page; the token or password is missing or wrong"
	}
	return "to " + loc.Scheme + "://" + loc.Host + loc.Path
}

// markup matches an HTML tag, and a script or style as a whole.
var markup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<(?:script|style)\b.*?</(?:script|style)>|<[^<>]*>`)
})

// maxRefusal bounds the part of a body that is searched for a message.
const maxRefusal = 16 << 10

// serverText is what a body says, in at most a line of 200 bytes, without secrets,
// which some servers repeat, and without what would act on a terminal.
func serverText(body []byte, secrets *strings.Replacer) string {
	body = body[:min(len(body), maxRefusal)]
	var m struct {
		Message any `json:"message"`
		Reason  any `json:"reason"`
	}
	text := string(body)
	if json.Unmarshal(body, &m) == nil {
		text = ""
		for _, v := range []any{m.Reason, m.Message} {
			if s, ok := v.(string); ok && s != "" {
				text = s
			}
		}
	}
	if strings.Contains(text, "Traceback (most recent call last)") {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		text = lines[len(lines)-1]
	}
	// Before a limit on its length: a secret that is cut would not be found.
	text = secrets.Replace(strings.Join(strings.Fields(ansi.Plain(markup().ReplaceAllString(text, " "))), " "))
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "..."
	}
	return text
}

// Unavailable returns an error that is codeinterp.ErrUnavailable.
func Unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", codeinterp.ErrUnavailable, fmt.Sprintf(format, args...))
}
