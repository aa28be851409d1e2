package codeinterp

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// DefaultMaxOutput is how many bytes of output a Result keeps where
	// RunOptions.MaxOutput is zero.
	DefaultMaxOutput = 8 << 20

	// OutputOverhead is how many bytes a Result holds at most beside MaxOutput:
	// names and ids of displays, many small pieces, and the program's error. With a
	// MaxOutput of -1 nothing is bounded.
	OutputOverhead = 10 << 20

	// OutputHeadPercent is the part of MaxOutput that goes to the first output; the
	// rest goes to the last.
	OutputHeadPercent = 40

	// MaxCode is the largest program, in bytes, that providers accept.
	MaxCode = 8 << 20

	// MaxInputFiles and MaxInputBytes are how many files and directories, and
	// how many bytes, RunOptions.Files and ContextOptions.Files may have.
	MaxInputFiles = 10_000
	MaxInputBytes = 1 << 30

	// MaxArtifacts is how many artifacts a Result lists, MaxArtifactPaths how many
	// bytes their paths have, and MaxArtifactData how many bytes of them it holds
	// where the files are gone after the run.
	MaxArtifacts     = 1000
	MaxArtifactPaths = 1 << 20
	MaxArtifactData  = 8 << 20

	// MaxRefusals is how many refusals a Result lists.
	MaxRefusals = 8

	// MaxTimeout is the longest RunOptions.Timeout that providers accept.
	MaxTimeout = 7 * 24 * time.Hour
)

// RunOptions tunes one run. The zero value is ready to use. Providers copy it
// on entry.
type RunOptions struct {
	// Timeout bounds the wall-clock time of the program, from its start;
	// waiting in a queue does not count. Zero means no limit of its own.
	Timeout time.Duration

	// OnOutput, if set, receives every output as it appears, in order, with display
	// updates, clears and what the Result later drops. Calls are serial and end
	// before the run returns. A slow callback slows the program and does not delay
	// its timeout. Output written while the run is being stopped may miss OnOutput;
	// it is still in the Result, and CallbackErr reports it. Errors, panics and calls
	// of runtime.Goexit go to Result.CallbackErr and do not affect the run. The
	// callback may keep the Output's memory. It must not wait for another run in the
	// same context.
	OnOutput func(Output) error

	// Env adds to or replaces the environment for this run only.
	Env map[string]string

	// Stdin is the program's standard input, nil or empty for an empty one; functions that
	// ask a person, such as Python's input, fail if it is nil. It is not copied: do not
	// change the bytes until the run has returned.
	Stdin []byte

	// Input, if set, replaces Stdin by a stream. It is read ahead; data that the
	// program does not read is discarded. If Input is an io.Closer, it is closed, at
	// least once, when the run is over or was refused, and Close has to end a Read in
	// progress. Otherwise a blocked Read is abandoned. Languages whose
	// [LanguageInfo.Input] is false refuse it.
	Input io.Reader

	// Files, if set, is copied into the directory in which the program starts,
	// before it begins, up to MaxInputFiles and MaxInputBytes; links are not
	// followed but refused. Files of the same names are replaced. If the copy
	// fails, the program does not begin, and some of the files may be there:
	// ErrInvalid where the fault is in Files or its names, with ErrTooLarge where
	// it is too much; ErrCapacity with ErrQuota where there is no room. It is read
	// during the call, and is to return soon. Languages whose
	// [LanguageInfo.Files] is false refuse it.
	Files fs.FS

	// Artifacts asks for Result.Artifacts: the state of all files in the directory is
	// read before the program begins and after its end, up to 50,000 files, which takes
	// about a millisecond for 1,000 files. Files in .git, node_modules, .venv, __pycache__
	// and .cache are left out. Languages whose [LanguageInfo.Files] is false refuse it.
	Artifacts bool

	// MaxOutput is how many bytes of output the Result keeps: the first 40 %
	// and the last 60 % of a longer output; Result.Truncated says what is
	// missing. Zero means DefaultMaxOutput, -1 everything.
	MaxOutput int

	// Functions are what the program can call of the host, beside those of its
	// context; one with the same name goes before the context's. They are for
	// languages whose LanguageInfo.Functions is set; in another they are
	// ErrInvalid.
	Functions []Function

	// FunctionLimits bound the calls of Functions and of the context's.
	FunctionLimits FunctionLimits

	// Network, if set, takes from what the provider lets programs reach, for this run and
	// what it leaves running, until the next run of the context.
	// Where programs reach the host's own network it is ErrInvalid.
	Network *NetworkLimit

	// OnNetwork, if set, receives an event for each connection or request of the program,
	// and of what it leaves running, when that has ended, which may be after the run. It is
	// called concurrently, and should return soon; its panics are ignored.
	// Where programs reach the host's own network there are no events.
	OnNetwork func(NetworkEvent)
}

// closeInput ends the wait of whoever writes to Input, also where a middleware
// has refused the run.
func (o *RunOptions) closeInput() {
	if o == nil {
		return
	}
	if c, ok := o.Input.(io.Closer); ok {
		_ = c.Close()
	}
}

// ContextOptions tunes a new context. The zero value is ready to use.
type ContextOptions struct {
	// Cwd is the directory that the context's runs start in. Empty means the
	// provider's own choice, a private directory where it has one. One that is not
	// there is ErrInvalid, but where a context has files of its own in memory: there
	// it is made.
	Cwd string

	// Env adds to or replaces the environment of all the context's runs.
	Env map[string]string

	// Functions are what all the context's programs can call of the host; see
	// RunOptions.Functions.
	Functions []Function

	// Files, if set, is copied into the directory of the new context, as
	// RunOptions.Files is into that of a run. Nothing is left of a context
	// whose files cannot be copied.
	Files fs.FS
}

// CheckRun validates the input of a run and returns a copy of opts that the
// provider owns, with defaults filled in. Providers call it on entry.
func CheckRun(code string, opts *RunOptions) (RunOptions, error) {
	if err := checkCode(code); err != nil {
		return RunOptions{}, err
	}
	if opts == nil {
		limits, _ := FunctionLimits{}.check() // the zero value is never refused
		return RunOptions{MaxOutput: DefaultMaxOutput, FunctionLimits: limits}, nil
	}
	o := *opts
	switch {
	case o.Timeout < 0:
		return o, fmt.Errorf("%w: negative timeout %v", ErrInvalid, o.Timeout)
	case o.Timeout > MaxTimeout:
		return o, fmt.Errorf("%w: timeout %v is longer than %v", ErrInvalid, o.Timeout, MaxTimeout)
	case o.Stdin != nil && o.Input != nil:
		return o, fmt.Errorf("%w: both Stdin and Input", ErrInvalid)
	case o.MaxOutput < -1:
		return o, fmt.Errorf("%w: MaxOutput %d; use -1 for no limit", ErrInvalid, o.MaxOutput)
	case o.MaxOutput == 0:
		o.MaxOutput = DefaultMaxOutput
	}
	var err error
	if o.Env, err = checkEnv(o.Env); err != nil {
		return o, err
	}
	if o.FunctionLimits, err = o.FunctionLimits.check(); err != nil {
		return o, err
	}
	if o.Network != nil {
		for _, h := range o.Network.Hosts {
			if _, err := netip.ParseAddr(h); err != nil && strings.ContainsAny(h, ":/@ ") {
				return o, fmt.Errorf("%w: Network.Hosts has %.300q; write a host without a port or a path", ErrInvalid, h)
			}
		}
	}
	o.Functions, err = checkFunctions(o.Functions)
	return o, err
}

// CheckContext validates the options of a new context and returns a copy that
// the provider owns.
func CheckContext(opts *ContextOptions) (ContextOptions, error) {
	if opts == nil {
		return ContextOptions{}, nil
	}
	o := *opts
	if strings.ContainsRune(o.Cwd, 0) {
		return o, fmt.Errorf("%w: Cwd has a NUL byte", ErrInvalid)
	}
	var err error
	if o.Env, err = checkEnv(o.Env); err != nil {
		return o, err
	}
	o.Functions, err = checkFunctions(o.Functions)
	return o, err
}

func checkCode(code string) error {
	if len(code) > MaxCode {
		return fmt.Errorf("%w: code of %d bytes is larger than %d; put data into a file", ErrInvalid, len(code), MaxCode)
	}
	if i := strings.IndexByte(code, 0); i >= 0 {
		return fmt.Errorf("%w: code has a NUL byte at offset %d", ErrInvalid, i)
	}
	if !utf8.ValidString(code) {
		at := strings.IndexFunc(code, func(r rune) bool { return r == utf8.RuneError })
		return fmt.Errorf("%w: code is not valid UTF-8, at offset %d: save it as UTF-8", ErrInvalid, at)
	}
	return nil
}

func checkEnv(env map[string]string) (map[string]string, error) {
	for k, v := range env {
		switch {
		case k == "" || strings.ContainsAny(k, "=\x00"):
			return nil, fmt.Errorf("%w: environment name %q; it is empty, or has a = or a NUL byte", ErrInvalid, k)
		case strings.ContainsRune(v, 0):
			return nil, fmt.Errorf("%w: value of environment name %q has a NUL byte", ErrInvalid, k)
		}
	}
	return maps.Clone(env), nil
}
