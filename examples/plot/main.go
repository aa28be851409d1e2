// Command plot has Python draw a plot with matplotlib, on this machine and
// isolated from it, and saves what it shows as a PNG file.
//
//	go run ./examples/plot [-python PATH] [-o plot.png]
//
// It needs a Python with matplotlib: the one on PATH, or -python.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const program = `
import matplotlib.pyplot as plt
import math

x = [i / 20 for i in range(200)]
plt.figure(figsize=(6, 3))
plt.plot(x, [math.sin(v) * math.exp(-v / 5) for v in x])
plt.title("a damped oscillation")
plt.show()
`

func main() {
	python := flag.String("python", "", "a Python with matplotlib; empty means the one on PATH")
	out := flag.String("o", "plot.png", "where to save the plot")
	flag.Parse()
	if err := plot(*python, *out); err != nil {
		fmt.Fprintln(os.Stderr, "plot:", err)
		os.Exit(1)
	}
}

func plot(python, out string) (err error) {
	language := subprocess.Python()
	if python != "" {
		path, err := filepath.Abs(python)
		if err != nil {
			return err
		}
		language.Commands = []string{path}
	}
	ci, err := subprocess.New(&subprocess.Options{Languages: []subprocess.Language{language}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ci.Close()) }()
	info := ci.Describe()
	fmt.Printf("%s, isolated by %s, network %s\n", info.Languages[0].Runtime, info.Isolation.Backend, info.Isolation.Network)

	res, err := ci.RunCode(context.Background(), "python", program, &codeinterp.RunOptions{Timeout: 2 * time.Minute})
	if err != nil {
		return err
	}
	if res.Error != nil {
		if res.Error.MissingModule == "matplotlib" {
			return errors.New("this Python has no matplotlib: pip install matplotlib, or give another one with -python")
		}
		return res.Error
	}
	for _, image := range res.Images() {
		if image.MIME == "image/png" {
			fmt.Printf("saved %d bytes as %s, after %v\n", len(image.Data), out, res.Duration.Round(time.Millisecond))
			return os.WriteFile(out, image.Data, 0o644)
		}
	}
	return fmt.Errorf("the program ended as %s and showed no image", res.Status)
}
