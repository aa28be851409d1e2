package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/egress"
	"github.com/toolcell/toolcell/providers/subprocess"
)

// missing names the interpreter in which a module is missing, and how to get the module.
func (a *app) missing(ci codeinterp.CodeInterpreter, language string, res *codeinterp.Result) {
	if res.Error == nil || res.Error.MissingModule == "" {
		return
	}
	if s, ok := ci.(scriptRunner); ok {
		if beside := s.script.beside(res.Error.MissingModule); beside != "" {
			fmt.Fprintf(a.stderr, "toolcell: %s is beside the program, which cannot read it: use --in %s, or --dir %s for all of that directory\n", beside, beside, filepath.Dir(beside))
			return
		}
	}
	for _, l := range codeinterp.Describe(ci).Languages {
		if l.Name != language || l.Path == "" {
			continue
		}
		fmt.Fprintf(a.stderr, "toolcell: this was %s, %s; --%s PATH takes another\n", l.Runtime, l.Path, flagOf(language))
		if name := res.Error.MissingModule; language == "python" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_.") == "" {
			fmt.Fprintf(a.stderr, "toolcell: --with %s installs it\n", subprocess.PackageOf(name))
		}
	}
}

// flagOf returns the flag that chooses the interpreter of a language.
func flagOf(language string) string {
	if language == "python" {
		return language
	}
	return "node"
}

// hint prints how a program gets the file, network, permission or input that it lacked.
// Input is given if it has a standard input, or is not expected to have one.
func (a *app) hint(f *programFlags, files *runFiles, given bool, res *codeinterp.Result) {
	if len(res.Refusals) > 0 {
		fmt.Fprintln(a.stderr, "toolcell: the network policy refused: "+strings.Join(res.Refusals, "; "))
	}
	if res.OK() {
		return
	}
	text := res.Stderr()
	if text = text[max(0, len(text)-4<<10):]; res.Error != nil {
		text += "\n" + res.Error.Name + ": " + res.Error.Message
	}
	match := func(pattern string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(text) }
	absent := match(`(?:No such file or directory: |ENOENT: no such file or directory, \w+ )'([^']+)'`)
	denied := f.dir != "" && match(`Permission denied|Read-only file system|EACCES|EROFS`) != nil
	switch {
	case f.assumed && match(`\bSyntaxError\b|\bprint'? is not defined`) != nil:
		fmt.Fprintln(a.stderr, "toolcell: this ran as JavaScript; --language python runs Python")
	case files.private && absent != nil && exists(absent[1]):
		name := visible(absent[1])
		fmt.Fprintf(a.stderr, "toolcell: %s is not open to the program; --in %s puts it beside the program\n", name, name)
	case denied && len(f.write) == 0:
		fmt.Fprintln(a.stderr, "toolcell: --dir opens the directory for reading; --write lets the program change it")
	case denied && os.Geteuid() == 0:
		fmt.Fprintln(a.stderr, "toolcell: programs of a root host run as another user, who needs write permission there: chmod o+w, or give the directory to another user")
	case f.provider == "inmemory" && match(`\bfetch is not |there is no network here`) != nil:
		fmt.Fprintln(a.stderr, "toolcell: programs have no network; --allow HOST lets fetch, or urllib of Python, reach one, --net open every public one")
	case f.provider == "subprocess" && f.net.mode == egress.Off && match(`Temporary failure in name resolution|Name or service not known|Network is unreachable|ENETUNREACH|EAI_AGAIN|getaddrinfo|Could not resolve host`) != nil:
		fmt.Fprintln(a.stderr, "toolcell: programs have no network; --allow HOST lets them reach one, --net open every public one")
	case !given && match(`(?:there is|has) no standard input|EBADF: bad file descriptor, read|(?m:^\w+: .*Bad file descriptor$)`) != nil:
		fmt.Fprintln(a.stderr, "toolcell: the program has no standard input; --stdin gives it this command's")
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
