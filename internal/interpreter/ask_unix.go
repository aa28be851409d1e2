//go:build unix

// Package interpreter finds the interpreters of this machine and asks them what they
// are. It starts an interpreter as the host, so callers check with [LinkedThrough]
// that programs cannot have changed it.
package interpreter

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// MaxAsk bounds the time that an interpreter has to answer.
const MaxAsk = 30 * time.Second

var (
	// dotted matches a version that is surely one: perl says "perl 5, version 36, subversion
	// 0 (v5.36.0)".
	dotted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+(\.\d+)?`) })
	number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+`) })
)

// Version returns the version in what an interpreter prints, "" if there is none.
func Version(printed string) string {
	return cmp.Or(dotted().FindString(printed), number().FindString(printed))
}

// Ask runs an interpreter as the host and returns what it prints.
func Ask(path string, args []string, stdin string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), MaxAsk)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// A child that it leaves behind may hold its pipes open.
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", errors.New("does not answer")
		}
		if line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); line != "" {
			return "", fmt.Errorf("does not work: %s", line)
		}
		// The caller's list of attempts has the path.
		return "", errors.New("does not work: " + strings.TrimPrefix(err.Error(), "fork/exec "+path+": "))
	}
	// Some write their version to standard error.
	if out.Len() == 0 {
		return errs.String(), nil
	}
	return out.String(), nil
}

// Older reports whether version v is lower than want, which may be empty. Go's versions
// have the same form.
func Older(v, want string) bool { return version.Compare("go"+v, "go"+want) < 0 }
