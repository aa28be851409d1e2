package server

import (
	"context"
	"net/http"
	"strings"
)

// A SpecList is the server's answer to GET api/kernelspecs.
type SpecList struct {
	Default string `json:"default"`
	Specs   map[string]struct {
		Name string `json:"name"`
		Spec Spec   `json:"spec"`
	} `json:"kernelspecs"`
}

// A Spec is what a kernelspec says of its kernel.
type Spec struct {
	Argv        []string `json:"argv"`
	DisplayName string   `json:"display_name"`
	Language    string   `json:"language"`
}

// Specs returns the server's kernelspecs. A server that is starting is waited
// for.
func (c *Client) Specs(ctx context.Context) (SpecList, error) {
	var list SpecList
	err := c.Await(ctx, func(ctx context.Context) error {
		return c.do(ctx, http.MethodGet, "api/kernelspecs", nil, &list)
	})
	for name, s := range list.Specs {
		// Deno's kernel sends a value after it reports that the program has ended.
		if strings.Contains(strings.Join(s.Spec.Argv, " "), "deno") {
			delete(list.Specs, name)
		}
	}
	return list, err
}
