//go:build unix

package subprocess

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/toolcell/toolcell/internal/interpreter"
	"github.com/toolcell/toolcell/internal/probecache"
)

// probes opens Options.ProbeCache, unless programs can change it.
func (o *Options) probes() *probecache.Cache {
	if o.ProbeCache == "" || interpreter.LinkedThrough(o.ProbeCache, o.changeable()) != "" {
		return nil
	}
	return probecache.Open(o.ProbeCache)
}

// A knownLanguage is what was found out about an interpreter by starting it.
type knownLanguage struct {
	Path, Runtime, Prefix      string
	Roots, Packages, Installed []string
	Boot, ForkBoot             []byte
}

// probeKey names all that an interpreter's description depends on, apart from files.
func (h *host) probeKey(l *language) string {
	return fmt.Sprintf("%s %d %s %q %t %v %s %s\n%s\n%s", l.Name, l.kind, l.path, l.probed, l.forks, h.sandbox.Mode(), l.MinVersion, l.sourceSum(),
		probecache.Environment(), probecache.Machine())
}

// sourceSum names the driver that a language was probed with.
func (l *language) sourceSum() string {
	if l.kind != pythonKind || l.Driver == nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(l.Driver.Source)))
}

// recall fills in what is known of a candidate, and reports whether it is.
func (h *host) recall(l *language) bool {
	if l.environment != nil {
		return false
	}
	var k knownLanguage
	if !h.opts.probes().Load(h.probeKey(l), 0, &k) {
		return false
	}
	l.path, l.runtime, l.prefix = k.Path, k.Runtime, k.Prefix
	l.roots, l.packages, l.installed = k.Roots, k.Packages, k.Installed
	l.boot, l.forkBoot = k.Boot, k.ForkBoot
	return true
}

// remember keeps what was found out about the candidate of a key.
func (h *host) remember(key, candidate string, l *language) {
	if l.environment != nil {
		return
	}
	files := append(probecache.Files(), candidate, l.path, l.prefix, l.prefix+"/pyvenv.cfg")
	files = append(files, l.searched...)
	for _, root := range l.roots {
		if strings.Contains(root, "/") {
			files = append(files, root)
		}
	}
	h.opts.probes().Store(key, files, knownLanguage{l.path, l.runtime, l.prefix, l.roots, l.packages, l.installed, l.boot, l.forkBoot})
}
