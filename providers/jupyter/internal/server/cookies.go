package server

import (
	"maps"
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
	kept map[cookieKey]time.Time // until then; zero: for good
}

type cookieKey struct{ name, domain, path string }

func newJar() *jar {
	j, _ := cookiejar.New(nil) // it has no error
	return &jar{Jar: j, kept: map[cookieKey]time.Time{}}
}

// SetCookies takes those for which there is room.
func (j *jar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	// Those that have expired take no room: a server that renews its cookies goes on.
	maps.DeleteFunc(j.kept, func(_ cookieKey, end time.Time) bool { return !end.IsZero() && end.Before(now) })
	var taken []*http.Cookie
	for _, c := range cookies {
		key := cookieKey{c.Name, c.Domain, c.Path}
		_, known := j.kept[key]
		switch over := c.MaxAge < 0 || !c.Expires.IsZero() && c.Expires.Before(now); {
		case over:
			delete(j.kept, key)
		case len(c.Name)+len(c.Value)+len(c.Domain)+len(c.Path) > maxCookie || len(j.kept) >= maxCookies && !known:
			continue
		case c.MaxAge > 0:
			j.kept[key] = now.Add(time.Duration(c.MaxAge) * time.Second)
		default:
			j.kept[key] = c.Expires
		}
		taken = append(taken, c)
	}
	j.Jar.SetCookies(u, taken)
}
