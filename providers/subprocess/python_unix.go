//go:build unix

package subprocess

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcell/toolcell/internal/frames"
	"github.com/toolcell/toolcell/internal/interpreter"
)

// fewPackages are listed by name, whatever they are.
const fewPackages = 8

// mainPackages are those that programs import most.
var mainPackages = strings.Fields(`numpy pandas matplotlib scipy scikit-learn pillow seaborn plotly requests
	openpyxl sympy statsmodels polars pyarrow torch tensorflow beautifulsoup4 lxml pypdf python-docx networkx
	httpx duckdb pytest ipython`)

// probePython asks a Python what it is. It is asked as the host.
func (l *language) probePython() error {
	driver, magics, _ := strings.Cut(l.Driver.Source, pythonMagics)
	magics, added, _ := strings.Cut(magics, pythonAdded)
	driver += added
	if l.forks {
		driver += sourceOf("python/", "fork.py")
	}
	parts := "\x01" + magics + "\x01" + pythonNow
	source := driver + "\nloop()\n" + parts
	if l.forks {
		source += "\x00" + driver + sourceOf("python/", "forkserver.py") + parts
	}
	about, printed, err := interpreter.AskPython(l.probePath(), source)
	if err != nil {
		return err
	}
	if interpreter.Older(about.Version, l.MinVersion) {
		return fmt.Errorf("version %s is older than %s", about.Version, l.MinVersion)
	}
	l.Runtime = "CPython " + about.Version
	if filepath.IsAbs(about.Executable) && l.probed == "" {
		l.Path = about.Executable // behind the shims of version managers
	}
	l.Prefix, l.searched = about.Prefixes[0], about.Path
	l.Roots = interpreter.PythonRoots(l.probePath(), about.Prefixes, about.Path)
	if prefix, ok := projectOf(l); ok {
		if l.Prefix = prefix; l.made {
			l.Roots = append(l.Roots, prefix)
		}
		site := sitePackages(l.Prefix, about.Version)
		l.searched, about.Metadata = append(l.searched, site), metadataOf(site)
	}
	l.Packages, l.Installed = packagesOf(about.Metadata), versionsOf(about.Metadata)
	code, err := pieces([]byte(printed))
	if err != nil || len(code) != 1+strings.Count(source, "\x00") {
		return errors.New("cannot compile the driver")
	}
	if l.Boot = code[0]; l.forks {
		l.ForkBoot = code[1]
	}
	return nil
}

// pieces divides compiled code, each part of which begins with its length.
func pieces(b []byte) (list [][]byte, err error) {
	for b = bytes.Clone(b); len(b) > 0; {
		n, ok := frames.Length(b)
		if !ok || len(b) < frames.Digits+n {
			return nil, errors.New("cut off")
		}
		list, b = append(list, slices.Clip(b[:frames.Digits+n])), b[frames.Digits+n:]
	}
	return list, nil
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

// packagesOf returns the main packages of those whose directories of metadata, such as
// numpy-2.1.0.dist-info, are given, and how many others there are.
func packagesOf(metadata []string) []string {
	versions := map[string]string{}
	for _, dir := range metadata {
		name, version, ok := installedAs(dir)
		if ok && len(dir) <= 100 && versions[name] == "" && name != "pip" && name != "setuptools" && name != "wheel" {
			versions[name] = version
		}
	}
	return describePackages(versions)
}

// nodePackages is packagesOf for the lock of an environment of Node.js.
func nodePackages(lock []string) []string {
	versions := map[string]string{}
	for _, line := range lock {
		if at := strings.LastIndex(line, "@"); at > 0 {
			versions[line[:at]] = line[at+1:]
		}
	}
	return describePackages(versions)
}

// describePackages lists the main packages, or all where there are few, and counts the
// others.
func describePackages(versions map[string]string) []string {
	names := mainPackages
	if len(versions) <= fewPackages {
		names = slices.Sorted(maps.Keys(versions))
	}
	var list []string
	for _, name := range names {
		if v := versions[name]; v != "" {
			list = append(list, name+" "+v)
		}
	}
	if more := len(versions) - len(list); more > 0 && len(list) > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	} else if more > 0 {
		list = []string{fmt.Sprintf("%d packages", more)}
	}
	return list
}
