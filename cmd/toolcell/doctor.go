package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/ansi"
	"github.com/toolcell/toolcell/providers/subprocess"
)

const (
	openTimeout   = 5 * time.Second  // for reaching one provider
	doctorTimeout = 30 * time.Second // for trying all of its languages
)

// ownServer is how to get a Jupyter server.
const ownServer = "a server of your own: pip install jupyter-server ipykernel; then jupyter server, which prints its URL and token"

// doctorCommand reports which providers work on this machine.
func (a *app) doctorCommand() *cobra.Command {
	f := &providerFlags{}
	return a.command("doctor [flags]", "Report which providers, languages and isolation work here", f.register,
		func(ctx context.Context, _ *pflag.FlagSet, _ []string) int { return a.doctor(ctx, *f) })
}

// doctor reports which providers, languages and isolation this machine has, and how
// to get what is missing. It exits with 1 if the provider that --provider names does
// not work.
func (a *app) doctor(ctx context.Context, f providerFlags) int {
	names := providerList
	if f.provider != "" {
		if !slices.Contains(names, f.provider) {
			return a.usageError("unknown provider %q; use %s", f.provider, providerNames)
		}
		names = []string{f.provider}
	}
	out := bufio.NewWriter(a.stdout)
	a = &app{stdin: a.stdin, stdout: out, stderr: a.stderr, getenv: a.getenv}
	for i, name := range names {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		f.provider = name
		err := a.examine(ctx, f)
		_ = out.Flush() // keeps its error
		switch {
		case ctx.Err() != nil:
			return a.stopped()
		// A flag is wrong, and so it is for the providers that follow.
		case errors.Is(err, codeinterp.ErrInvalid):
			return a.fail(err)
		case err != nil && len(names) == 1:
			return exitFailure
		}
	}
	if err := out.Flush(); err != nil {
		return a.fail(err)
	}
	return 0
}

// examine opens a provider, runs a program in each of its languages and
// reports what it found.
func (a *app) examine(ctx context.Context, f providerFlags) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	fmt.Fprintln(a.stdout, f.provider)
	if f.provider == "jupyter" && f.url == "" {
		fmt.Fprintln(a.stdout, "  not asked: give --url, or set JUPYTER_URL and JUPYTER_TOKEN")
		fmt.Fprintln(a.stdout, "  "+ownServer)
		return nil
	}
	opening, stop := context.WithTimeoutCause(ctx, openTimeout, fmt.Errorf("it did not open within %v", openTimeout))
	defer stop()
	ci, err := f.open(opening)
	if err != nil {
		fmt.Fprintf(a.stdout, "  does not work: %s\n", indent(reason(err)))
		if f.provider == "jupyter" {
			fmt.Fprintln(a.stdout, "  "+ownServer)
		}
		return err
	}
	defer ci.Close()
	info := codeinterp.Describe(ci)
	for _, l := range info.Languages {
		fmt.Fprintf(a.stdout, "  %-12s %s  %s\n", l.Name, try(ctx, ci, l.Name), indent(l.Runtime))
		printLanguage(a.stdout, &l)
	}
	if f.provider == "subprocess" {
		printMissing(a.stdout, f, ownLanguages(), info.Languages)
	}
	if f.provider == "inmemory" && !slices.ContainsFunc(info.Languages, func(l codeinterp.LanguageInfo) bool { return l.Name == "python" }) {
		from := ""
		if packURL == "" {
			from = " --from PACK"
		}
		fmt.Fprintf(a.stdout, "  python       is not installed: toolcell engine install python%s (docs/python.md)\n", from)
	}
	printIsolation(a.stdout, info.Isolation)
	if f.provider == "subprocess" {
		printModes(a.stdout)
	}
	if _, ok := codeinterp.Stateful(ci); ok {
		fmt.Fprintln(a.stdout, "  contexts     keep their variables between runs")
	}
	return nil
}

// printLanguage prints the interpreter of a language and its packages.
func printLanguage(w io.Writer, l *codeinterp.LanguageInfo) {
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(w, "               %s%s\n", label, indent(text))
		}
	}
	line("is ", l.Path)
	line("below ", l.Prefix)
	line("has ", strings.Join(l.Packages, ", "))
	line("", l.Notes)
	for _, root := range l.Roots {
		line("opens ", root)
	}
	for _, other := range l.PassedOver {
		line("not ", other)
	}
}

// probes are programs that do nothing, in the languages that have no empty one.
var probes = map[string]string{"bash": "true", "python": "1", "javascript": "1", "typescript": "1"}

func try(ctx context.Context, ci codeinterp.CodeInterpreter, language string) string {
	start := time.Now()
	res, err := ci.RunCode(ctx, language, probes[language], nil)
	switch {
	case err != nil:
		return "FAILS: " + indent(err.Error())
	case !res.OK():
		return fmt.Sprintf("FAILS: %s, exit %d", res.Status, res.ExitCode)
	}
	return fmt.Sprintf("works (%v)", time.Since(start).Round(100*time.Microsecond))
}

// printMissing prints why languages are missing, and how to get them.
func printMissing(w io.Writer, f providerFlags, wanted []subprocess.Language, found []codeinterp.LanguageInfo) {
	for _, l := range wanted {
		if slices.ContainsFunc(found, func(i codeinterp.LanguageInfo) bool { return i.Name == l.Name }) {
			continue
		}
		f.languages = []subprocess.Language{l}
		if ci, err := f.openSubprocess(context.Background(), nil); err == nil {
			ci.Close()
		} else {
			fmt.Fprintf(w, "  %-12s missing: %s\n", l.Name, indent(reason(err)))
		}
	}
}

// plain returns an error's text without the provider, the operation and the kind, which
// the exit code shows.
func plain(err error) string {
	text := strings.TrimSpace(reason(err))
	for _, kind := range []error{codeinterp.ErrInvalid, codeinterp.ErrUnavailable} {
		text = strings.TrimPrefix(text, kind.Error()+": ")
	}
	return text
}

// reason returns an error's text without provider, operation and control characters:
// servers and programs have chosen some of it.
func reason(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*codeinterp.Error](err); ok {
		// Within the text, since more may stand around it.
		text = strings.ReplaceAll(text, e.Error(), e.Err.Error())
	}
	return ansi.Plain(text)
}

const unknown = "not known"

func printIsolation(w io.Writer, i codeinterp.Isolation) {
	fmt.Fprintf(w, "  isolation    %s", cmp.Or(i.Backend, unknown))
	if i.User != "" {
		fmt.Fprintf(w, ", as user %s", i.User)
	}
	fmt.Fprintln(w)
	for _, row := range [][2]string{
		{"host files", cmp.Or(string(i.Filesystem), unknown+": take it for open")}, {"network", cmp.Or(string(i.Network), unknown+": take it for open")}, {"processes", cmp.Or(string(i.Processes), unknown+": take it for open")}, {"signals", cmp.Or(string(i.Signals), unknown+": take it for open")},
	} {
		fmt.Fprintf(w, "    %-10s %s\n", row[0], row[1])
	}
	fmt.Fprintf(w, "    limits     memory: %s, cpu: %s, processes: %s, disk: %s\n",
		cmp.Or(i.Memory, unknown), cmp.Or(i.CPU, unknown), cmp.Or(i.PIDs, unknown), cmp.Or(i.Disk, unknown))
	fmt.Fprintf(w, "    host dies  %s\n", cmp.Or(survivors[i.HostDeath], unknown+": the code may go on"))
	for _, r := range i.Reasons {
		fmt.Fprintf(w, "    note       %s\n", indent(r))
	}
}

// printModes prints which modes of isolation work here.
func printModes(w io.Writer) {
	for _, m := range []subprocess.Mode{subprocess.Bwrap, subprocess.Landlock} {
		says := "works"
		if ci, err := subprocess.New(&subprocess.Options{Sandbox: subprocess.Sandbox{Mode: m}}); err == nil {
			ci.Close()
		} else if errors.Is(err, codeinterp.ErrIsolation) {
			says = indent(reason(err))
		}
		fmt.Fprintf(w, "    %-10s %s\n", m, says)
	}
}

// survivors describes which code survives the end of the host.
var survivors = map[string]string{
	"all": "all of the code ends with it", "child": "the code's first process ends with it, what it started may go on", "none": "the code goes on",
}

func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n               ")
}
