package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxAttempts = 6
	maxWait     = time.Minute      // longer than this nobody waits for a retry
	maxSilence  = 10 * time.Minute // of a stream
)

var (
	// errIncomplete is a stream that ended before the model's turn did.
	errIncomplete = errors.New("the answer broke off")

	// errSilence is a server that sends nothing any more.
	errSilence = fmt.Errorf("no answer for %v", maxSilence)
)

// An endpoint is where an API is reached.
type endpoint struct {
	client *http.Client
	url    string
	header http.Header
	tell   func(string)                               // sees what goes wrong and is tried again
	sleep  func(context.Context, time.Duration) error // nil: wait for real
}

// An apiError is an error that the API answered with.
type apiError struct {
	status  int // 0 for one within a stream
	kind    string
	message string
	after   time.Duration // how long to wait; -1: it does not say
	retry   bool
}

func (e *apiError) Error() string {
	var parts []string
	if e.status != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprint(e.status, " ", http.StatusText(e.status))))
	}
	for _, s := range []string{e.kind, e.message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ") + e.advice()
}

// advice says what to do about an error, where its message does not.
func (e *apiError) advice() string {
	switch text := strings.ToLower(e.message); {
	case e.status == http.StatusUnauthorized:
		return " (check the key)"
	case strings.Contains(text, "context length"), strings.Contains(text, "context window"), strings.Contains(text, "prompt is too long"):
		return " (the conversation is too long for the model: start the agent again)"
	}
	return ""
}

// try calls ask until it works, or fails in a way that will not change. Rate
// limits, overload, faults of the server and lost connections are worth
// another try, after the time that the server asks for.
func (e *endpoint) try(ctx context.Context, ask func() error) error {
	for attempt := 1; ; attempt++ {
		err := ask()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait := backoff(attempt)
		if api, ok := errors.AsType[*apiError](err); ok {
			if !api.retry || api.after > maxWait {
				return err
			}
			if api.after >= 0 {
				wait = api.after
			}
		}
		if attempt == maxAttempts {
			return fmt.Errorf("after %d attempts: %w", attempt, err)
		}
		e.tell(fmt.Sprintf("%v; trying again in %v", err, wait.Round(10*time.Millisecond)))
		if err := e.wait(ctx, wait); err != nil {
			return err
		}
	}
}

// backoff returns how long to wait after the nth attempt: half a second,
// doubled each time, less up to a quarter by chance.
func backoff(n int) time.Duration {
	d := time.Second / 2 << (n - 1)
	return d - time.Duration(rand.Int64N(int64(d/4)))
}

func (e *endpoint) wait(ctx context.Context, d time.Duration) error {
	if e.sleep != nil {
		return e.sleep(ctx, d)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stream posts a request and calls handle with the events of the answer. An
// answer that is not a stream is passed to whole.
func (e *endpoint) stream(ctx context.Context, request any, handle func(event) error, whole func([]byte) error) error {
	body, err := json.Marshal(request)
	if err != nil {
		return &apiError{message: err.Error()}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(maxSilence, func() { cancel(errSilence) })
	defer silence.Stop()
	err = e.exchange(ctx, body, func(ev event) error {
		silence.Reset(maxSilence)
		return handle(ev)
	}, whole)
	if context.Cause(ctx) == errSilence {
		return errSilence
	}
	return err
}

// exchange sends a body and reads the answer to it.
func (e *endpoint) exchange(ctx context.Context, body []byte, handle func(event) error, whole func([]byte) error) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return &apiError{message: err.Error()}
	}
	req.Header = e.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return readError(resp)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		b, err := io.ReadAll(io.LimitReader(resp.Body, maxEvent))
		if err != nil {
			return err
		}
		return whole(b)
	}
	return readEvents(resp.Body, handle)
}

// errorBody is how the APIs write errors.
type errorBody struct {
	Error struct {
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func readError(resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	e := &apiError{status: resp.StatusCode, after: retryAfter(resp.Header, time.Now())}
	var body errorBody
	if json.Unmarshal(b, &body) == nil && body.Error.Message != "" {
		e.kind, e.message = body.Error.Type, body.Error.Message
	} else {
		e.message = strings.TrimSpace(string(b[:min(len(b), 500)]))
	}
	switch code := resp.StatusCode; {
	case resp.Header.Get("X-Should-Retry") == "false", body.Error.Code == "insufficient_quota":
	case resp.Header.Get("X-Should-Retry") == "true":
		e.retry = true
	default:
		e.retry = code == http.StatusRequestTimeout || code == http.StatusConflict || code == http.StatusTooManyRequests || code >= 500
	}
	return e
}

// streamError is an error event within a stream.
func streamError(data []byte) error {
	var body errorBody
	if err := json.Unmarshal(data, &body); err != nil || body.Error.Message == "" {
		return &apiError{message: string(data[:min(len(data), 500)]), after: -1, retry: true}
	}
	kind := body.Error.Type
	return &apiError{
		kind: kind, message: body.Error.Message, after: -1,
		retry: kind != "invalid_request_error" && kind != "authentication_error" && kind != "permission_error",
	}
}

// retryAfter reads how long the server wants to be left alone, -1 if it does
// not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 {
		return time.Duration(min(s, 1e6) * float64(time.Second))
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(now), 0)
	}
	return -1
}

// firstOf returns the first of the values that is not empty.
func firstOf(values ...string) string { return cmp.Or(values...) }
