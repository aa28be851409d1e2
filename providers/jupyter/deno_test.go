//go:build linux && real && full

package jupyter_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/conformance"
)

// denoConfig fits the suite's JavaScript programs, which are for node, to
// Deno's kernel: it shows values as Deno prints them, drops NaN, null and bigints, and
// has its own way to show things.
func denoConfig() conformance.Config {
	p, _ := conformance.ProgramsFor("javascript")
	show := func(bundle string) string {
		return fmt.Sprintf("await Deno.jupyter.display({ [Symbol.for(\"Jupyter.display\")]: () => (%s) });", bundle)
	}
	png := "\"image/png\": \"" + base64.StdEncoding.EncodeToString(conformance.PNG()) + "\""
	p.DisplayBundle = show(`{ "text/plain": "plain", "text/html": "<b>rich</b>", ` + png + " }")
	p.Show = func(bundle []codeinterp.Representation) string {
		var list []string
		for _, rep := range bundle {
			data := strconv.Quote(string(rep.Data))
			switch {
			case codeinterp.IsJSON(rep.MIME):
				data = string(rep.Data)
			case !codeinterp.IsText(rep.MIME):
				data = strconv.Quote(base64.StdEncoding.EncodeToString(rep.Data))
			}
			list = append(list, fmt.Sprintf("%q: %s", rep.MIME, data))
		}
		return show("{ " + strings.Join(list, ", ") + " }")
	}
	var values []conformance.Expression
	for _, v := range p.Values {
		switch v.Code {
		case "NaN", "null", "10n", "-0", "Promise.resolve([7])":
			continue
		case `"hi"`, `""`:
			v.Text = ""
		}
		values = append(values, v)
	}
	p.Values, p.Raises = values, p.Raises[:1]
	p.NoValue = slices.DeleteFunc(slices.Clone(p.NoValue), func(code string) bool { return strings.HasPrefix(code, "Promise") }) // it awaits none
	p.ReadAll, p.ReadLine = "", ""
	p.GetEnv = func(name string) string { return fmt.Sprintf(`console.log(Deno.env.get(%q) ?? "<unset>");`, name) }
	p.Getwd = "console.log(Deno.cwd());"
	p.WriteFile = func(path, text string) string { return fmt.Sprintf("Deno.writeTextFileSync(%q, %q);", path, text) }
	p.ReadFile = func(path string) string {
		return fmt.Sprintf("void process.stdout.write(Deno.readTextFileSync(%q));", path)
	}
	p.AppendForever = func(path string) string {
		return fmt.Sprintf("for (;;) { Deno.writeTextFileSync(%q, \".\", { append: true }); await new Promise((r) => void setTimeout(r, 10)); }", path)
	}
	p.MissingModule, p.Child, p.Late = nil, nil, nil
	p.Awaited, p.Unending = nil, nil // its runs end before their timers do
	p.HardExit = nil                 // its kernel takes an exit for an error, and lives on
	return conformance.Config{
		Languages: []string{"javascript"},
		Programs:  map[string]conformance.Programs{"javascript": p},
		Timeout:   10 * time.Minute, // its kernels are started anew, not forked
		Lacks: []conformance.Feature{conformance.Stdin, conformance.BinaryOutput, conformance.FullOutput,
			conformance.InterruptKeepsState, conformance.ErrorLine},
	}
}
