package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"time"
)

// checkKeep fills in TOOLCELL_KEEP, and what a keeper needs. A run that cannot be kept is an
// error only if the flag asks for it.
func (f *runFlags) checkKeep() (err error) {
	asked := f.keep != 0
	if text := f.getenv("TOOLCELL_KEEP"); !asked && text != "" {
		if f.keep, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("TOOLCELL_KEEP is %q; use a duration, such as 10m", text)
		}
	}
	net := &f.net
	switch {
	case f.keep == 0:
		return nil
	case f.keep < 0:
		err = fmt.Errorf("--keep %v; use a duration, such as 10m", f.keep)
	case runtime.GOOS != "linux":
		err = errors.New("--keep needs Linux")
	case !is(cmp.Or(f.language, "python"), "python"):
		err = fmt.Errorf("--keep is for Python programs, not %s", f.language)
	case f.provider != "subprocess":
		err = errors.New("--keep goes with --provider subprocess")
	case len(f.install) > 0:
		err = errors.New("--keep goes without --install: make an environment with toolcell env create")
	case net.given || net.ask || net.policy != "" || len(net.allow)+len(net.secrets) > 0:
		err = errors.New("--keep goes without flags of the network")
	case len(f.script.python()) > maxScript:
		err = errors.New("--keep goes without arguments as long as these")
	}
	if err != nil {
		if f.keep = 0; asked {
			return err
		}
		return nil
	}
	env := map[string]string{}
	maps.Copy(env, f.startEnv)
	maps.Copy(env, f.env.values)
	// What is ready gets the environment of all runs, and what many programs import.
	f.startEnv, f.warm = env, true
	if len(f.preload) == 0 {
		f.preload = usualModules
	}
	return nil
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
