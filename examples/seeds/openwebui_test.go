//go:build real && linux

package seeds

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/jupytertest"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// executeCodeJupyter runs code in a kernel of its own and returns what it showed.
// examples/openwebui is the whole program, with its flags and errors.
func executeCodeJupyter(ctx context.Context, baseURL, code, token string, timeout time.Duration) (map[string]string, error) {
	ci, err := jupyter.New(ctx, &jupyter.Options{URL: baseURL, Auth: jupyter.Auth{Token: token}})
	if err != nil {
		return nil, err
	}
	defer ci.Close()
	res, err := ci.RunCode(ctx, "python", code, &codeinterp.RunOptions{Timeout: timeout})
	var shown []string
	for _, o := range res.Displays() {
		if img, ok := o.Richest("image/png"); ok {
			shown = append(shown, "data:image/png;base64,"+base64.StdEncoding.EncodeToString(img.Data))
		} else {
			shown = append(shown, o.Text())
		}
	}
	return map[string]string{"stdout": res.Stdout(), "stderr": res.Stderr(), "result": strings.Join(shown, "\n")}, err
}

func TestOpenWebUI(t *testing.T) {
	server := jupytertest.Start(t, nil)
	out, err := executeCodeJupyter(t.Context(), server.Address(), "print('hello'); 42", jupytertest.Token, time.Minute)
	if err != nil || out["stdout"] != "hello\n" || out["stderr"] != "" || out["result"] != "42" {
		t.Errorf("%q, %v", out, err)
	}
}
