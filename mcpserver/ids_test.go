package mcpserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// An answer has the id of its request, and of no other.
func TestIDs(t *testing.T) {
	for _, tt := range []struct {
		id    string
		whole bool
	}{
		{"0", true}, {"-1", true}, {"9007199254740991", true}, {"-9007199254740991", true}, {`"9007199254740993"`, true}, {`"7.5"`, true}, {"50.0", true}, {"1e3", true},
		{"7.5", false}, {"9007199254740992", false}, {"9007199254740993", false}, {"-9007199254740993", false}, {"1e17", false}, {"9223372036854775808", false},
		{"1e-400", false}, {"0.1e-400", false}, {"7.00000000000000000001", false},
	} {
		want := `"id":` + tt.id + `,"error":{"code":-32600,"message":"a number as id must be`
		switch tt.id {
		case "50.0":
			want = `"id":50,"result":`
		case "1e3":
			want = `"id":1000,"result":`
		default:
			if tt.whole {
				want = `"id":` + tt.id + `,"result":`
			}
		}
		talk(t, []string{want}, initialize, initialized, `{"jsonrpc":"2.0","id":`+tt.id+`,"method":"ping"}`)
	}
}

// The cancellation of an unknown request cancels no other.
func TestCancelledIDs(t *testing.T) {
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	talk(t, []string{`"id":9007199254740993,"error"`}, initialize, initialized, `{"jsonrpc":"2.0","id":9007199254740993,"ID":1,"method":"ping"}`)
	got := talkUntil(t, []string{`"id":7,`}, initialize, initialized, runMessage("2025-11-25", "ticks 20"), cancel("7.4"), cancel("7.9"), cancel(`"7"`))
	if strings.Contains(got, `"id":null`) || strings.Contains(got, "cancel") || !strings.Contains(got, `"id":7,"result"`) {
		t.Errorf("got %s", got)
	}
}

func TestIDsOverHTTP(t *testing.T) {
	url := serve(t, newServer(t, newFake(), nil), nil)
	for _, tt := range []struct {
		body, want string
		status     int
	}{
		{`{"jsonrpc":"2.0","id":7.5,"method":"initialize"}`, `"id":7.5,"error":{"code":-32600`, http.StatusBadRequest},
		{`[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}]`, `"id":9007199254740993,"error"`, http.StatusBadRequest},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":50.4}}`, "", http.StatusAccepted},
		{strings.Replace(initialize, `"id":1`, `"id":9007199254740991`, 1), `"id":9007199254740991,"result"`, http.StatusOK},
	} {
		res, err := post(t.Context(), url, "", "", tt.body)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != tt.status || !strings.Contains(string(b), tt.want) {
			t.Errorf("%s: %d %s", tt.body, res.StatusCode, b)
		}
	}
}
