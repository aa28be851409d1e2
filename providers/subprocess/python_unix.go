//go:build unix

package subprocess

import (
	"errors"
	"fmt"
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
// installed; and compiles the drivers that it is given, which is half of what a
// start would take otherwise, unless the host says that it has what such a Python
// makes of them.
const pythonQuestion = `import sys,marshal
v=sys.version_info
import os,_frozen_importlib_external
have=set()
for d in sys.path:
 try:have|={n for n in os.listdir(d) if n.endswith('.dist-info') or n.endswith('.egg-info')}
 except OSError:pass
print('%d.%d.%d'%v[:3]);print(sys.executable);print(sys.prefix,*{sys.base_prefix,sys.exec_prefix,sys.base_exec_prefix}-{sys.prefix},sep='\0');print(os.path.dirname(os.__file__),*sys.path,sep='\0');print(*sorted(have),sep='\0')
me=_frozen_importlib_external.MAGIC_NUMBER.hex()+' '+sys.version.replace('\n',' ');print(me);sys.stdout.flush()
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
	if l.asked != "" || isEnvironment(l.path) {
		args = []string{"-I", "-S", "-X", "utf8", "-c", withoutSite + pythonQuestion}
	}
	driver, later, _ := strings.Cut(l.Driver.Source, pythonLater)
	later, added, _ := strings.Cut(later, pythonAdded)
	source := driver + added + "\nloop()\n\x01" + later
	if l.forks {
		source += "\x00" + driver + later + added + pythonSource("forkserver") + "\x01"
	}
	out, err := ask(l.asks(), args, compiled.known(source)+"\x02"+source)
	if err != nil {
		return err
	}
	parts := strings.SplitN(out, "\n", 7)
	if len(parts) < 7 {
		return errors.New("is no Python")
	}
	if older(parts[0], l.MinVersion) {
		return fmt.Errorf("version %s is older than %s", parts[0], l.MinVersion)
	}
	l.runtime = "CPython " + parts[0]
	if filepath.IsAbs(parts[1]) && l.asked == "" {
		l.path = parts[1] // behind the shims of version managers
	}
	prefixes := strings.Split(parts[2], "\x00")
	l.prefix = prefixes[0]
	l.roots = pythonRoots(l.asks(), prefixes, strings.Split(parts[3], "\x00"))
	metadata := strings.Split(parts[4], "\x00")
	if prefix, ok := projectOf(l); ok {
		l.prefix = prefix
		metadata = metadataOf(l.prefix, parts[0])
	}
	l.packages, l.installed = packagesOf(metadata), versionsOf(metadata)
	code, err := compiled.take(compilation{source, parts[5]}, parts[6])
	if err != nil {
		return err
	}
	if l.boot = code[0]; l.forks {
		l.forkBoot = code[1]
	}
	return nil
}

// versionsOf returns what is installed, as a Lock lists it, by its directories of
// metadata; what has no version that a Lock could name is left out.
func versionsOf(metadata []string) []string {
	var list []string
	for _, dir := range metadata {
		name, version, _ := strings.Cut(strings.TrimSuffix(dir, filepath.Ext(dir)), "-")
		version, _, _ = strings.Cut(version, "-") // an egg's has Python's behind it
		if line := strings.ToLower(strings.ReplaceAll(name, "_", "-")) + "==" + version; pinned().MatchString(line) {
			list = append(list, line)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// packagesOf returns the main packages of those whose directories of metadata,
// such as numpy-2.1.0.dist-info, are given: first those of mainPackages, then
// some of the others.
func packagesOf(metadata []string) []string {
	var names []string
	versions := map[string]string{}
	for _, dir := range metadata {
		name, version, ok := strings.Cut(strings.TrimSuffix(dir, filepath.Ext(dir)), "-")
		name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if !ok || len(dir) > 100 || versions[name] != "" || name == "pip" || name == "setuptools" || name == "wheel" {
			continue
		}
		version, _, _ = strings.Cut(version, "-") // an egg's has Python's behind it
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
