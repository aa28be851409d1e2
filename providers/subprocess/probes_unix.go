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
	Path      string   // of the interpreter
	Runtime   string   // such as "CPython 3.11.7", from the driver's hello
	Prefix    string   // where it is installed, if known
	Roots     []string // directories that the interpreter needs, outside the system's
	Packages  []string // the main ones
	Installed []string // all packages, as a Lock lists them
	Boot      []byte   // sent to the driver before the first frame
	ForkBoot  []byte   // the same for a fork server, if the language has one
	Files     []string // that all this depends on
}

// probeKey names all that an interpreter's description depends on, apart from files.
func (h *host) probeKey(l *language) string {
	return fmt.Sprintf("2 %s %d %s %q %t %v %s %s\n%s\n%s", l.Name, l.kind, l.Path, l.probed, l.forks, h.sandbox.Mode(), l.MinVersion, l.sourceSum(),
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
	var known knownLanguage
	if l.environment != nil || !h.opts.probes().Load(h.probeKey(l), 0, &known) {
		return false
	}
	l.knownLanguage = known
	return true
}

// remember keeps what was found out about the candidate of a key.
func (h *host) remember(key, candidate string, l *language) {
	if l.environment != nil {
		return
	}
	l.Files = append(probecache.Files(), candidate, l.Path, l.Prefix, l.Prefix+"/pyvenv.cfg")
	l.Files = append(l.Files, l.searched...)
	for _, root := range l.Roots {
		if strings.Contains(root, "/") {
			l.Files = append(l.Files, root)
		}
	}
	h.opts.probes().Store(key, l.Files, l.knownLanguage)
}
