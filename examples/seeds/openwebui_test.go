package seeds

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	fake "github.com/toolcell/toolcell/internal/fakejupyter"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// executeCodeJupyter runs code in a kernel of its own and returns what it showed.
// examples/openwebui is the whole program, with its flags and errors.
func executeCodeJupyter(ctx context.Context, baseURL, code, token string, timeout time.Duration, client *http.Client) (map[string]string, error) {
	ci, err := jupyter.New(ctx, &jupyter.Options{URL: baseURL, Auth: jupyter.Auth{Token: token}, HTTPClient: client})
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

func Example_openWebUI() {
	server := fake.New() // which speaks the protocol of a Jupyter server
	defer server.Close()
	server.Token = "t"
	server.Execute = func(k *fake.Kernel, req *fake.Message) {
		k.IOPub(req, "status", fake.Status("busy"))
		k.IOPub(req, "stream", fake.Stream("stdout", "hello\n"))
		k.IOPub(req, "execute_result", fake.Data(1, "text/plain", "42", ""))
		k.Reply(req, "execute_reply", fake.OK(1))
		k.IOPub(req, "status", fake.Status("idle"))
	}
	out, err := executeCodeJupyter(context.Background(), "http://fake", "print('hello'); 42", "t", time.Minute, server.Client())
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(out)
	fmt.Println(string(text))
	// Output: {"result":"42","stderr":"","stdout":"hello\n"}
}
