package tools

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/toolcell/toolcell/codeinterp"
	"github.com/toolcell/toolcell/tools/secret"
)

// Defaults of [Options].
const (
	DefaultTimeout    = time.Minute
	DefaultMaxTimeout = 10 * time.Minute
	DefaultMaxText    = 32 << 10
)

// Options tunes [ForCode]. The zero value is ready to use.
type Options struct {
	// Namer makes the tools' names from the workspace's name and the
	// operation, such as "run_code". Nil means [Prefixed].
	Namer func(workspace, op string) string

	// Prefix is the name of an interpreter beside others in a workspace. The
	// tools of one that is called "script" are script_run_code and so on, but
	// for read_output, which is the same tool for all that share Outputs.
	Prefix string

	// Timeout bounds a run whose call does not set timeoutMs. Zero means
	// DefaultTimeout, or MaxTimeout if that is shorter; negative means none.
	Timeout time.Duration

	// MaxTimeout is the longest timeout a call may set. Zero means
	// DefaultMaxTimeout.
	MaxTimeout time.Duration

	// MaxOutput is passed to the provider; see [codeinterp.RunOptions].
	MaxOutput int

	// MaxText is how many bytes of output an answer's text holds: streams,
	// displays and the program's error together. Zero means DefaultMaxText;
	// less than 1 KiB is an error.
	MaxText int

	// MaxImages is how many images an answer holds: the last ones, since programs show
	// their best at the end. Zero means DefaultMaxImages, a negative value none.
	MaxImages int

	// Functions are functions of the host that programs of run_code and of contexts
	// that the model creates can call, in languages whose LanguageInfo.Functions is
	// set. The descriptions declare them. [Func] makes one of a Go function,
	// [Tool.Function] of a tool.
	Functions []codeinterp.Function

	// FunctionLimits bound the calls of functions.
	FunctionLimits codeinterp.FunctionLimits

	// ManageContexts adds list_code_contexts, restart_code_context and
	// interrupt_code_context if the interpreter has these abilities.
	ManageContexts bool

	// ForkContexts adds fork_code_context if a language has forks: the model tries
	// several ways from one state.
	ForkContexts bool

	// Background adds start_command, command_output, command_input, stop_command
	// and list_commands if there is a shell.
	Background bool

	// Terminals adds start_terminal, terminal_input, terminal_screen and stop_terminal
	// if there is a shell with terminals.
	Terminals bool

	// Artifacts lists the files that a program created or changed in the answer (the
	// first 200, with 32 KiB of paths, in the JSON) and in Answer.Result, if
	// LanguageInfo.Files is set. It takes time if the directory has many files.
	Artifacts bool

	// ReadOutput adds read_output: the model reads, page by page, what did not fit
	// into an answer.
	ReadOutput bool

	// Outputs keeps the whole output of runs whose answer was cut. Nil means a new
	// store with default bounds, which only read_output reads.
	Outputs *OutputStore

	// Secrets are scrubbed from everything that comes out of a run: events, answers,
	// Results and errors, but for what is not text, such as images. Nil means none.
	// Middlewares within the interpreter see what is not scrubbed yet; put
	// [secret.Middleware] inside of them to scrub before.
	Secrets *secret.Scrubber

	// ApproveFile, if set, is called before a file tool does anything. A nil error
	// allows the call; any other refuses it, and the model reads its text as the
	// reason. It may block until ctx ends. A panic refuses.
	ApproveFile func(context.Context, FileCall) error

	// OnFile, if set, is called after every call of a file tool, also after a refused
	// one. It may be called concurrently. Its panics are ignored.
	OnFile func(FileCall)

	// NewID makes the ids of calls that have none, and those of stored
	// outputs. Nil means 128 random bits.
	NewID func() string
}

// complete returns a checked copy of o, for a workspace of that name, with the defaults
// filled in.
func (o *Options) complete(workspace string) (Options, error) {
	if o == nil {
		o = &Options{}
	}
	c := *o
	var errs []error
	if workspace != "" || c.Namer == nil {
		errs = append(errs, CheckWorkspaceName(workspace))
	}
	if c.Namer == nil {
		c.Namer = Prefixed
	}
	if c.NewID == nil {
		c.NewID = rand.Text
	}
	c.MaxImages = max(cmp.Or(c.MaxImages, DefaultMaxImages), 0)
	c.MaxText = cmp.Or(c.MaxText, DefaultMaxText)
	c.MaxTimeout = cmp.Or(c.MaxTimeout, DefaultMaxTimeout)
	c.Timeout = cmp.Or(c.Timeout, min(DefaultTimeout, c.MaxTimeout))
	if c.MaxTimeout < time.Millisecond || c.MaxTimeout > codeinterp.MaxTimeout {
		errs = append(errs, fmt.Errorf("options: MaxTimeout %v: use 1ms to %v", c.MaxTimeout, codeinterp.MaxTimeout))
	}
	if c.Timeout > c.MaxTimeout {
		errs = append(errs, fmt.Errorf("options: Timeout %v is longer than MaxTimeout %v", c.Timeout, c.MaxTimeout))
	}
	if c.Prefix != "" {
		if err := checkName(c.Prefix); err != nil {
			errs = append(errs, fmt.Errorf("options: Prefix, of an interpreter beside others: %w", err))
		}
	}
	if c.MaxText < 1<<10 {
		errs = append(errs, fmt.Errorf("options: MaxText %d: use 1024 or more", c.MaxText))
	}
	if _, err := codeinterp.CheckRun("", &codeinterp.RunOptions{Functions: c.Functions, FunctionLimits: c.FunctionLimits}); err != nil {
		errs = append(errs, fmt.Errorf("options: Functions: %w", err))
	}
	if c.MaxOutput < -1 {
		errs = append(errs, fmt.Errorf("options: MaxOutput %d: use -1 for no limit", c.MaxOutput))
	}
	if c.Outputs == nil {
		c.Outputs = NewOutputStore(nil)
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("tools: %w", err)
	}
	return c, nil
}
