package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// keepFlags choose whether a run leaves a process behind for later runs.
type keepFlags struct {
	keep  time.Duration
	asked bool // by the flag, not only by the environment
}

func (f *keepFlags) registerKeep(fs *pflag.FlagSet) {
	fs.DurationVar(&f.keep, "keep", 0, "leave a process behind for this `duration`, such as 10m, in which later runs with the same flags find Python started and its packages imported; for Python programs on Linux (environment: TOOLCELL_KEEP)")
}

// checkKeep fills in TOOLCELL_KEEP. A run that cannot be kept is an error only if the
// flag asks for it.
func (f *keepFlags) checkKeep(p *programFlags) error {
	f.asked = f.keep != 0
	if text := p.getenv("TOOLCELL_KEEP"); !f.asked && text != "" {
		var err error
		if f.keep, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("TOOLCELL_KEEP is %q; use a duration, such as 10m", text)
		}
	}
	var err error
	switch {
	case f.keep == 0:
	case f.keep < 0:
		err = fmt.Errorf("--keep %v; use a duration, such as 10m", f.keep)
	case !canKeep:
		err = errors.New("--keep needs Linux")
	case p.language != "" && !is(p.language, "python"):
		err = fmt.Errorf("--keep is for Python programs, not %s", p.language)
	case p.provider != "subprocess":
		err = errors.New("--keep goes with --provider subprocess")
	case p.settings != nil:
		err = errors.New("--keep goes without --template")
	case len(p.install) > 0:
		err = errors.New("--keep goes without --install: make an environment with toolcell env create")
	}
	if err != nil && !f.asked {
		f.keep, err = 0, nil
	}
	return err
}

// transient reports whether a path may be this process's alone, as that of a pipe of
// the shell.
func transient(path string) bool {
	abs, err := filepath.Abs(path)
	return err != nil || strings.HasPrefix(abs, "/dev/") || strings.HasPrefix(abs, "/proc/")
}

// scriptVariable brings a run's file and arguments to the driver. Programs do not have it.
const scriptVariable = "TOOLCELL_SCRIPT"

// laterPython makes the driver take them when it starts or when a program begins in a
// process that is ready, and import those modules that are installed. It is the same for
// all scripts, so that it is compiled once.
const laterPython = `
def set_env(pairs, inner=set_env):
    rest = []
    for i in range(0, len(pairs), 2):
        if pairs[i] == b'` + scriptVariable + `':
            environb.pop(pairs[i], None)
            exec(compile(pairs[i + 1].decode(), OWN, 'exec'), globals())
        else:
            rest += pairs[i:i + 2]
    return inner(rest)


script = environb.pop(b'` + scriptVariable + `', None)
if script is not None:
    exec(compile(script.decode(), OWN, 'exec'), globals())


def preload(names):
    for name in names:
        try:
            __import__(name.decode())
        except Exception:
            pass
`

// maxScript is how many bytes they may take.
const maxScript = 64 << 10

// usualModules are modules that many programs import and that take long.
var usualModules = []string{"numpy", "pandas", "matplotlib.pyplot"}
