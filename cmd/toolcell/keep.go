package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const keepSynopsis = "(list | stop)"

// keepFlags say whether a run leaves a process behind that serves later ones.
type keepFlags struct {
	keep  time.Duration
	asked bool // by the flag, and not by the environment alone
}

func (f *keepFlags) registerKeep(fs *flag.FlagSet) {
	fs.DurationVar(&f.keep, "keep", 0, "subprocess: leave a process behind for this `duration`, such as 10m, which has Python started and its packages imported for later runs with the same flags and environment (environment: TOOLCELL_KEEP); on Linux, for Python programs without --install; 0 for none")
}

// decide finds out whether the run is to be kept. What cannot be is an error where
// the flag asks for it.
func (f *keepFlags) decide(fs *flag.FlagSet, p *programFlags) error {
	if f.asked = isSet(fs, "keep"); !f.asked {
		text := p.getenv("TOOLCELL_KEEP")
		if text == "" {
			return nil
		}
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
	case p.provider != "subprocess":
		err = errors.New("--keep goes with --provider subprocess")
	case p.language != "" && ownLanguage(p.language) != ownLanguage("python"):
		err = fmt.Errorf("--keep is for Python programs, not %s", p.language)
	case len(p.install) > 0:
		err = errors.New("--keep goes without --install: make an environment with toolcell env create")
	}
	if err != nil && !f.asked {
		f.keep, err = 0, nil
	}
	return err
}

// beKept leaves it to the process that stays to have anything ready: a run that goes
// on by itself would wait for that, and end.
func (f *runFlags) beKept() {
	if f.keep > 0 {
		f.warm, f.preload = false, nil
	}
}

// own reports whether a path may be this process's alone, as that of a pipe that
// the shell has made.
func own(path string) bool {
	abs, err := filepath.Abs(path)
	return err != nil || strings.HasPrefix(abs, "/dev/") || strings.HasPrefix(abs, "/proc/")
}
