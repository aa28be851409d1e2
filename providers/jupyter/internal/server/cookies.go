package server

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"time"
)

const (
	// maxCookies and maxCookie bound what a server has us keep: a login takes a
	// few, those who share its load one or two more. RFC 6265, 6.1 has browsers
	// keep 50 of 4096 bytes for a domain.
	maxCookies = 100
	maxCookie  = 8 << 10

	// maxHeader bounds the headers of an answer.
	maxHeader = 1 << 20
)

// A jar is a cookie jar that does not grow without end, as the library's does.
type jar struct {
	*cookiejar.Jar

	mu   sync.Mutex
	kept map[cookieKey]bool
}

type cookieKey struct{ name, domain, path string }

func newJar() *jar {
	j, _ := cookiejar.New(nil) // it has no error
	return &jar{Jar: j, kept: map[cookieKey]bool{}}
}

// SetCookies takes those for which there is room.
func (j *jar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var taken []*http.Cookie
	for _, c := range cookies {
		key := cookieKey{c.Name, c.Domain, c.Path}
		switch over := c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(time.Now()); {
		case over:
			delete(j.kept, key)
		case len(c.Name)+len(c.Value)+len(c.Domain)+len(c.Path) > maxCookie || len(j.kept) >= maxCookies && !j.kept[key]:
			continue
		default:
			j.kept[key] = true
		}
		taken = append(taken, c)
	}
	j.Jar.SetCookies(u, taken)
}
