package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestJarIsBounded wants a server to fill no memory with cookies, and the first of
// them, with which a login goes on, to stay.
func TestJarIsBounded(t *testing.T) {
	j := newJar()
	u := &url.URL{Scheme: "http", Host: "example.com", Path: "/"}
	set := func(c http.Cookie) { j.SetCookies(u, []*http.Cookie{&c}) }
	set(http.Cookie{Name: "_xsrf", Value: "1"})
	set(http.Cookie{Name: "long", Value: strings.Repeat("x", maxCookie)})
	for i := range 1000 {
		set(http.Cookie{Name: fmt.Sprint("c", i), Value: "v"})
	}
	if n := len(j.Cookies(u)); n != maxCookies {
		t.Errorf("%d cookies are kept", n)
	}
	set(http.Cookie{Name: "_xsrf", Value: "2"})
	set(http.Cookie{Name: "c5", MaxAge: -1})
	set(http.Cookie{Name: "new", Value: "v"})
	values := map[string]string{}
	for _, c := range j.Cookies(u) {
		values[c.Name] = c.Value
	}
	if values["_xsrf"] != "2" || values["c5"] != "" || values["new"] != "v" || values["long"] != "" {
		t.Errorf("%v", values)
	}
}

// TestJarForgets: cookies that have expired take no room.
func TestJarForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJar()
		u := &url.URL{Scheme: "http", Host: "example.com", Path: "/"}
		for i := range 5 * maxCookies {
			c := http.Cookie{Name: fmt.Sprint("c", i), Value: "v", MaxAge: 60}
			if i%2 == 0 {
				c.MaxAge, c.Expires = 0, time.Now().Add(time.Minute)
			}
			j.SetCookies(u, []*http.Cookie{&c})
			if list := j.Cookies(u); len(list) == 0 || list[len(list)-1].Name != c.Name {
				t.Fatalf("cookie %d is not kept", i)
			}
			time.Sleep(2 * time.Second)
		}
	})
}
