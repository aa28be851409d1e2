// Command openwebui does what Open WebUI's execute_code_jupyter does: it runs
// a piece of Python on a Jupyter server, given its base URL, a token or a
// password, and a timeout, and prints a JSON object with stdout, stderr and
// result, images as data URLs.
//
//	echo 'print("hello"); 6*7' | openwebui -url http://localhost:8888 -token T -timeout 60s
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/jupyter"
)

// Output has the fields that Open WebUI shows.
type Output struct {
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Result string `json:"result"`
}

// Execute runs code in a kernel of its own. A program that fails, is too slow
// or loses its kernel has its reason at the end of Stderr, after all that it
// printed before.
func Execute(ctx context.Context, opts *jupyter.Options, code string, timeout time.Duration) (Output, error) {
	ci, err := jupyter.New(ctx, opts)
	if err != nil {
		return Output{}, err
	}
	defer ci.Close()
	res, err := ci.RunCode(ctx, "python", code, &codeinterp.RunOptions{Timeout: timeout})
	out := Output{Stdout: res.Stdout(), Stderr: res.Stderr()}
	var shown []string
	for _, o := range res.Displays() {
		shown = append(shown, show(o))
	}
	out.Result = strings.Join(shown, "\n")
	switch {
	case res.Error != nil:
		out.Stderr += strings.Join(res.Error.Traceback, "\n") + "\n"
	case !res.OK():
		out.Stderr += fmt.Sprintf("Error: %s\n", res.Status)
	}
	return out, err
}

// show is an image's data URL, or an output's text.
func show(o codeinterp.Output) string {
	img, ok := o.Richest("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")
	if !ok {
		return o.Text()
	}
	return "data:" + img.MIME + ";base64," + base64.StdEncoding.EncodeToString(img.Data)
}

func main() {
	url := flag.String("url", "http://localhost:8888", "the server's base URL")
	token := flag.String("token", "", "token")
	password := flag.String("password", "", "password, where there is no token")
	timeout := flag.Duration("timeout", time.Minute, "how long the code may run")
	flag.Parse()
	code, err := io.ReadAll(os.Stdin)
	if err == nil {
		var out Output
		out, err = Execute(context.Background(), &jupyter.Options{URL: *url, Auth: jupyter.Auth{Token: *token, Password: *password}}, string(code), *timeout)
		_ = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
