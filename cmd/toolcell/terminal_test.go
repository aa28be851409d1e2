//go:build unix

package main

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcell/toolcell/internal/goldentest"
)

// shown is what is typed at the terminal that the README shows.
var shown = []string{
	`toolcell run -e '[1, 2, 3].map((x) => x ** 2)'`,
	`echo 'import sys; print("hello", *sys.argv[1:])' > hello.py`,
	`toolcell run --provider subprocess hello.py you`,
	`echo 'def mean(a): return sum(a) / len(a)' > stats.py`,
	`echo 'from stats import mean; mean([1, 2])' | toolcell run --provider subprocess --dir .`,
	`toolcell run -e 'null.x'`,
	`printf 'month,sales\njan,30\nfeb,45\n' > sales.csv`,
	`echo 'const fs = require("fs"); fs.writeFileSync("bytes", "" + fs.statSync("sales.csv").size)' > count.js`,
	`toolcell run --in sales.csv --out results count.js`,
	`cat results/bytes`,
}

// TestTerminal records docs/terminal.svg: each line is run by a shell, and what
// it prints is what is shown.
func TestTerminal(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	needs(t, "python3")
	bin, dir := t.TempDir(), scripts(t, nil)
	if err := os.Symlink(exe, filepath.Join(bin, "toolcell")); err != nil {
		t.Fatal(err)
	}
	var screen strings.Builder
	for _, line := range shown {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), asToolcell+"=1", "PATH="+bin+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		fmt.Fprintf(&screen, "$ %s\n%s", line, out)
		if len(out) > 0 && out[len(out)-1] != '\n' {
			screen.WriteByte('\n')
		}
	}
	goldentest.Check(t, "../../../docs/terminal.svg", []byte(drawing(screen.String())))
}

// drawing draws a terminal with the text on it.
func drawing(text string) string {
	const wide, high, margin = 8.5, 19, 16
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	columns := 0
	for _, l := range lines {
		columns = max(columns, len([]rune(l)))
	}
	w, h := int(float64(columns)*wide)+2*margin, len(lines)*high+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", w, h, w, h)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#1d1f21"/>` + "\n" + `<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#c5c8c6" xml:space="preserve">` + "\n")
	for n, l := range lines {
		fill := ""
		if strings.HasPrefix(l, "$ ") {
			fill = ` fill="#8abeb7"`
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>%s</text>`+"\n", margin, margin+(n+1)*high-5, fill, html.EscapeString(l))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
