package server

import (
	"net/http"
	"strings"
	"testing"
)

func TestServerText(t *testing.T) {
	secrets := secretsOf(&Config{Token: "token+0123", Password: "password", Header: http.Header{"Authorization": {"Basic 01234567"}}})
	for body, want := range map[string]string{
		`{"message": "no <b>kernel</b> here", "reason": null}`:                                 "no kernel here",
		"<html><head><style>a > b {}</style><title>403</title></head><body>Go <br>away</body>": "403 Go away",
		"<script>if (a < b) { x() }</script>left <script src=x>":                               "left",
		"1 < 2 and no tag":                                 "1 < 2 and no tag",
		"no token+0123, token%2B0123 or password":          "no [secret], [secret] or [secret]",
		`{"message": "you said Basic 01234567"}`:           "you said [secret]",
		`{"message": "\u001b[2J\u001b]0;x\u0007a\u202eb"}`: "ab",
		strings.Repeat("x", 195) + "token+0123":            strings.Repeat("x", 195) + "[secr...",
		"Traceback (most recent call last)\nlast":          "last",
		strings.Repeat("word ", 100):                       strings.Repeat("word ", 40) + "...",
	} {
		if got := serverText([]byte(body), secrets); got != want {
			t.Errorf("%.60q: %q, want %q", body, got, want)
		}
	}
}
