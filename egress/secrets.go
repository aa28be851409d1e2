package egress

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
)

// Secrets has the credentials for requests. Methods must be safe for concurrent use.
type Secrets interface {
	// For returns the credential for a request that a rule with Credential has
	// allowed. It is asked for each request; an error refuses the request, and its
	// text is not shown to the program. The host is canonical, the path decoded.
	For(ctx context.Context, host, method, path string) (Credential, error)
}

// A Credential is what is set in a request, in the place of the program's own
// headers of these names.
type Credential struct {
	Name   string      // for events; never part of the secret
	Header http.Header // such as Authorization

	// Values are the secret parts of the headers, which are masked in answers. If
	// empty, they are the headers' values. One of less than 8 bytes refuses the request.
	Values []string
}

// ErrNoCredential: there is no credential for the host.
var ErrNoCredential = errors.New("no credential")

// Bearer returns a credential with a token (RFC 6750).
func Bearer(name, token string) Credential {
	return Credential{Name: name, Header: http.Header{"Authorization": {"Bearer " + token}}, Values: []string{token}}
}

// Basic returns a credential with a user and a password (RFC 7617), which is what git
// over https takes. Without a password the user is the secret.
func Basic(name, user, password string) Credential {
	both := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return Credential{Name: name, Header: http.Header{"Authorization": {"Basic " + both}}, Values: []string{cmp.Or(password, user), both}}
}

// Static has one credential for each host.
type Static map[string]Credential

// For returns the host's credential, or ErrNoCredential.
func (s Static) For(_ context.Context, host, _, _ string) (Credential, error) {
	c, ok := s[host]
	if !ok {
		return Credential{}, ErrNoCredential
	}
	return c, nil
}
