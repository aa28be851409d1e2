package tools

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/internal/plaintext"
	"github.com/toolcell/toolcell/internal/shorten"
)

// descriptions has the prose of each operation's description.
//
//go:embed descriptions/*.md
var descriptions embed.FS

// facts are what the descriptions say about an interpreter.
type facts struct {
	info   codeinterp.Info
	notes  map[string]string // by language
	values *strings.Replacer
}

func newFacts(info codeinterp.Info, k *kit) facts {
	k.facts.info = info
	f := facts{info: info, notes: map[string]string{}}
	for _, l := range info.Languages {
		f.notes[l.Name] = strings.TrimSpace(l.Notes)
	}
	stateless := ""
	if hasContexts(k) {
		stateless = " Use a context, made with " + k.name("create_code_context") + ", for work in several steps."
	}
	values := []string{
		"{{stateless}}", stateless,
		"{{languages}}", f.languages(k.limits.languages),
		"{{context_languages}}", "Languages: " + strings.Join(k.limits.contexts, ", ") + "; " + k.name("run_code") + " describes them.",
		"{{functions}}", orEmpty(functionsFact(k)),
		"{{functions_too}}", orEmpty(functionsToo(k)),
		"{{isolation}}", orEmpty(f.isolation()),
		"{{files}}", orEmpty(f.files()),
		"{{run_files}}", orEmpty(f.runFiles()),
		"{{nothing}}", f.nothing(),
		"{{timeout}}", timeoutFact(k.limits),
		"{{lifetime}}", orEmpty(f.lifetime()),
		"{{contexts}}", orEmpty(f.contexts()),
		"{{dir}}", orEmpty(dirFact(k)),
		"{{shell}}", orEmpty(shellFact(k, info)),
		"{{found}}", orEmpty(f.found()),
		"{{start}}", startFact(k),
		"{{server}}", orEmpty(serverFact(k, info)),
		"{{credentials}}", orEmpty(gitFact(k)),
		"{{forks}}", f.forks(),
	}
	for i := range operations { // the names of other tools
		values = append(values, "{{"+operations[i].name+"}}", k.name(operations[i].name))
	}
	f.values = strings.NewReplacer(values...)
	return f
}

// resolve is [codeinterp.ResolveLanguage], and knows the interpreter's own
// names for languages.
func (f *facts) resolve(name string, languages []string) (string, error) {
	for _, l := range f.info.Languages {
		if slices.ContainsFunc(l.Aliases, func(a string) bool { return strings.EqualFold(a, strings.TrimSpace(name)) }) &&
			slices.Contains(languages, l.Name) && !slices.Contains(languages, name) {
			return l.Name, nil
		}
	}
	return codeinterp.ResolveLanguage(name, languages)
}

// describe returns the description of an operation's tool.
func (f *facts) describe(op string) string {
	text, err := descriptions.ReadFile("descriptions/" + op + ".md")
	if err != nil {
		panic(err) // each operation has one
	}
	return strings.TrimSpace(strings.ReplaceAll(f.values.Replace(string(text)), emptyLine, ""))
}

// emptyLine replaces an unknown fact; its line is removed.
const emptyLine = "\x00\n"

func orEmpty(s string) string {
	if s == "" {
		return "\x00"
	}
	return s
}

func (f *facts) languages(names []string) string {
	var lines []string
	for _, name := range names {
		line := "- " + name
		for _, l := range f.info.Languages {
			if l.Name != name {
				continue
			}
			if runtime := runtimeOf(&l); runtime != "" {
				line += ": " + runtime + "."
			}
			if len(l.Packages) > 0 {
				line += " Installed: " + strings.Join(l.Packages, ", ") + "."
			}
			line += f.notesOnce(l.Name, names)
		}
		lines = append(lines, line)
	}
	return "Languages:\n" + strings.Join(lines, "\n")
}

// notesOnce returns a language's notes, with a reference in place of those of an
// earlier language that it repeats.
func (f *facts) notesOnce(name string, names []string) string {
	notes := f.notes[name]
	for _, earlier := range names[:slices.Index(names, name)] {
		if said := f.notes[earlier]; said != "" && strings.Contains(notes, said) {
			notes = strings.TrimSpace(strings.Replace(notes, said, "Otherwise like "+earlier+".", 1))
		}
	}
	if notes == "" {
		return ""
	}
	return " " + notes
}

// runtimeOf names the runtime behind a language, and where it is.
func runtimeOf(l *codeinterp.LanguageInfo) string {
	if l.Runtime == "" || l.Path == "" {
		return l.Runtime + l.Path
	}
	return l.Runtime + " (" + l.Path + ")"
}

// networkFacts and fileFacts say what can be reached.
var (
	networkFacts = map[codeinterp.Reach]string{
		codeinterp.ReachBlocked: "There is no network.",
		codeinterp.ReachLimited: "Only some network addresses can be reached.",
		codeinterp.ReachOpen:    "The network can be reached.",
	}
	fileFacts = map[codeinterp.Reach]string{
		codeinterp.ReachBlocked: "Files of the host cannot be reached.",
		codeinterp.ReachLimited: "Only some files of the host can be reached.",
		codeinterp.ReachOpen:    "Programs may reach files of the host: take care.",
	}
)

func (f *facts) isolation() string {
	return strings.TrimSpace(networkFacts[f.info.Isolation.Network] + " " + fileFacts[f.info.Isolation.Filesystem])
}

func (f *facts) files() string {
	if f.info.Workdir == "" {
		return ""
	}
	return "Programs start in the directory " + f.info.Workdir + "; save files there, with relative paths."
}

// runFiles is [facts.files] for a run outside of contexts.
func (f *facts) runFiles() string {
	if !f.info.PrivateDir || f.info.Workdir == "" {
		return f.files()
	}
	return "Programs start in the directory " + f.info.Workdir + "; files in it are gone after the call."
}

// nothing names what a run outside of contexts does not find.
func (f *facts) nothing() string {
	if f.info.PrivateDir {
		return "variables, imports, functions or files"
	}
	return "variables, imports or functions"
}

// dirFact says which directory the file tools work in.
func dirFact(k *kit) string {
	if k.files == nil || k.files.Dir() == "" {
		return ""
	}
	return "The directory is " + k.files.Dir() + ", as programs see it; a path is relative to it, or absolute and within it."
}

// lifetime says when the provider deletes contexts; empty if it deletes none.
func (f *facts) lifetime() string {
	if f.info.ContextIdle <= 0 {
		return ""
	}
	return "A context lives until it is deleted or was not used for " + span(f.info.ContextIdle) + "."
}

// forks names the languages whose contexts can be copied, where others cannot.
func (f *facts) forks() string {
	var names []string
	for _, l := range f.info.Languages {
		if l.Contexts && l.Forks {
			names = append(names, l.Name)
		}
	}
	if len(names) == len(withContexts(f.info)) {
		return ""
	}
	return " of " + strings.Join(names, " or ")
}

func (f *facts) contexts() string {
	n := f.info.Limits.Contexts
	if n == 0 {
		return ""
	}
	return "At most " + plural(n, "context", "can exist at a time") + "; delete those that are not needed."
}

func timeoutFact(l limits) string {
	if l.timeout == 0 {
		return fmt.Sprintf("A program may run for as long as it needs; timeoutMs, up to %d, stops it earlier.", l.maxTimeout)
	}
	return fmt.Sprintf("A program is stopped after %s; timeoutMs changes that, up to %s.",
		span(time.Duration(l.timeout)*time.Millisecond), span(time.Duration(l.maxTimeout)*time.Millisecond))
}

// span writes a duration in words.
func span(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d%unit.of == 0 {
			return strings.TrimSpace(plural(int(d/unit.of), unit.name, ""))
		}
	}
	return strings.TrimSpace(plural(int(d.Milliseconds()), "millisecond", ""))
}

// missingModule says what to do about a module that could not be imported.
// The language is empty if it is not known.
func (f *facts) missingModule(module, language string) string {
	s := fmt.Sprintf("The module %q is not installed here.", plaintext.Line(shorten.Head(module, 100)))
	for _, l := range f.info.Languages {
		if l.Name != language || l.Path == "" {
			continue
		}
		s += " This is " + runtimeOf(&l)
		if len(l.Packages) > 0 {
			s += ", with " + strings.Join(l.Packages, ", ")
		}
		s += "."
	}
	if notes := f.notes[language]; notes != "" {
		return s + " About this runtime: " + notes
	}
	return s + " Do without it, or with what the runtime has."
}
