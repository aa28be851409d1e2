//go:build unix

package subprocess

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// A description names at most maxPackages packages, and others than the main
// ones only while there are fewer than fewPackages.
const (
	maxPackages = 24
	fewPackages = 8
)

// mainPackages are those that programs which models write import most. They are
// named first.
var mainPackages = strings.Fields(`numpy pandas matplotlib scipy scikit-learn pillow seaborn plotly requests
	openpyxl sympy statsmodels polars pyarrow torch tensorflow beautifulsoup4 lxml pypdf python-docx networkx
	httpx duckdb pytest ipython`)

// pythonQuestion has Python say what it is, where it lives, and what is
// installed, as lines in hexadecimal, since names of files are whatever others have
// chosen; and compiles the drivers that it is given, which is half of what a
// start would take otherwise, unless the host says that it has what such a Python
// makes of them.
const pythonQuestion = `import sys,marshal
v=sys.version_info
import os,_frozen_importlib_external
have=set()
for d in sys.path:
 try:have|={n for n in os.listdir(d) if n.endswith('.dist-info') or n.endswith('.egg-info')}
 except OSError:pass
me=_frozen_importlib_external.MAGIC_NUMBER.hex()+' '+sys.version.replace('\n',' ')
def say(*a):print('\0'.join(a).encode('utf-8','surrogateescape').hex())
say('%d.%d.%d'%v[:3]);say(me);say(sys.executable);say(sys.prefix,*{sys.base_prefix,sys.exec_prefix,sys.base_exec_prefix}-{sys.prefix});say(os.path.dirname(os.__file__),*sys.path);say(*sorted(have));sys.stdout.flush()
known,_,given=sys.stdin.buffer.read().partition(b'\2')
if v>=(3,9)and me.encode()not in known.split(b'\n'):
 def code(s):return compile(s,'<toolcell>','exec',0,True)
 for s in given.split(b'\0'):
  s,l=s.split(b'\1');b=marshal.dumps((code(s),l and marshal.dumps(code(l))));sys.stdout.buffer.write(b'%08x'%len(b)+b)`

// withoutSite is what a Python does first that packages are not to run in: it
// finds them, and reads none of their .pth files.
const withoutSite = `import site
site.addpackage=lambda *a,**k:None
site.execsitecustomize=site.execusercustomize=lambda:None
site.main()
`

// probePython asks a Python what it is. It is asked as the host.
func (l *language) probePython() error {
	args := []string{"-I", "-X", "utf8", "-c", pythonQuestion}
	others := l.probed != "" || isEnvironment(l.path) // have put into it what they like
	if others {
		args = []string{"-I", "-S", "-X", "utf8", "-c", withoutSite + pythonQuestion}
	}
	driver, later, _ := strings.Cut(l.Driver.Source, pythonLater)
	later, added, _ := strings.Cut(later, pythonAdded)
	source := driver + added + "\nloop()\n\x01" + later
	if l.forks {
		source += "\x00" + driver + later + added + sourceOf("python/", "forkserver.py") + "\x01"
	}
	known := compiled.known(source)
	out, err := ask(l.probePath(), args, strings.Join(slices.Collect(maps.Keys(known)), "\n")+"\x02"+source)
	if err != nil {
		return err
	}
	about, printed, err := pythonAnswer(out)
	if err != nil {
		return err
	}
	if older(about.version, l.MinVersion) {
		return fmt.Errorf("version %s is older than %s", about.version, l.MinVersion)
	}
	l.runtime = "CPython " + about.version
	if filepath.IsAbs(about.executable) && l.probed == "" {
		l.path = about.executable // behind the shims of version managers
	}
	l.prefix = about.prefixes[0]
	l.roots = pythonRoots(l.probePath(), about.prefixes, about.path)
	if prefix, ok := projectOf(l); ok {
		l.prefix = prefix
		about.metadata = metadataOf(l.prefix, about.version)
	}
	l.packages, l.installed = packagesOf(about.metadata), versionsOf(about.metadata)
	code := known[about.format]
	if code == nil || printed != "" {
		if code, err = compiled.take(compilation{source, about.format}, printed, others); err != nil {
			return err
		}
	}
	if l.boot = code[0]; l.forks {
		l.forkBoot = code[1]
	}
	return nil
}

// A pythonAbout is what a Python says of itself.
type pythonAbout struct {
	version, format string
	executable      string
	prefixes        []string // at least one
	path            []string // with that of the standard library first
	metadata        []string // names of the directories of what is installed
}

// pythonAnswer reads the answer to pythonQuestion, and returns what is behind it.
func pythonAnswer(out string) (about pythonAbout, rest string, err error) {
	var fields [6][]string
	for i := range fields {
		line, after, _ := strings.Cut(out, "\n")
		text, err := hex.DecodeString(line)
		if err != nil || i < 2 && len(text) == 0 {
			return about, "", errors.New("is no Python")
		}
		fields[i], out = strings.Split(string(text), "\x00"), after
	}
	return pythonAbout{fields[0][0], fields[1][0], fields[2][0], fields[3], fields[4], fields[5]}, out, nil
}

// versionsOf returns what is installed, as a Lock lists it, by its directories of
// metadata; what has no version that a Lock could name is left out.
func versionsOf(metadata []string) []string {
	var list []string
	for _, dir := range metadata {
		if name, version, ok := installedAs(dir); ok {
			list = append(list, name+"=="+version)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// installedAs returns what a directory of metadata is of. Whoever makes a package
// has named it: what is no name and version that a Lock could have is none.
func installedAs(dir string) (name, version string, ok bool) {
	name, version, _ = strings.Cut(strings.TrimSuffix(dir, filepath.Ext(dir)), "-")
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	version, _, _ = strings.Cut(version, "-") // an egg's has Python's behind it
	return name, version, pinned().MatchString(name + "==" + version)
}

// packagesOf returns the main packages of those whose directories of metadata,
// such as numpy-2.1.0.dist-info, are given: first those of mainPackages, then
// some of the others.
func packagesOf(metadata []string) []string {
	var names []string
	versions := map[string]string{}
	for _, dir := range metadata {
		name, version, ok := installedAs(dir)
		if !ok || len(dir) > 100 || versions[name] != "" || name == "pip" || name == "setuptools" || name == "wheel" {
			continue
		}
		versions[name] = version
		names = append(names, name)
	}
	var list []string
	for i, name := range append(mainPackages[:len(mainPackages):len(mainPackages)], names...) {
		room := maxPackages
		if i >= len(mainPackages) {
			room = fewPackages
		}
		if v := versions[name]; v != "" && len(list) < room {
			list = append(list, name+" "+v)
			delete(versions, name)
		}
	}
	return list
}
