package codeinterp

import "time"

// A Status says how a run ended. It is the same for every provider.
type Status string

// The statuses, with the exit code that goes with each.
const (
	// StatusOK: the program ended normally, also by exiting with code 0.
	StatusOK Status = "ok"
	// StatusError: an uncaught exception or a syntax error (exit code 1; of a
	// shell's syntax the shell's code, 2), or an exit with another code than 0
	// (that code), or an interrupt by InterruptContext (130).
	StatusError Status = "error"
	// StatusTimeout: RunOptions.Timeout ran out (124).
	StatusTimeout Status = "timeout"
	// StatusCanceled: the caller's ctx ended (130); the error is its cause.
	StatusCanceled Status = "canceled"
	// StatusLost: an end that was not requested, or a restart, deletion or Close
	// during the run. The exit code is 128 + signal (137 for SIGKILL and out of
	// memory, 134 for abort), or, with CauseExit, that of the process if known and
	// not 0. Usually the process or kernel died with its state; StateLost says so.
	// The error is nil, or ErrClosed or ErrContext if the interpreter or the context
	// was closed. With CauseServer it is ErrUnavailable if the end of the program is
	// not known: it may have ended well or may still be running. The next run in the
	// context ends what is left of it and reports that.
	StatusLost Status = "lost"
	// StatusNotRun: the program never started (-1); the error says why.
	StatusNotRun Status = "not_run"
)

// Exit codes that are not the program's own.
const (
	ExitTimeout  = 124
	ExitCanceled = 130
	ExitKilled   = 137
	ExitNotRun   = -1
)

// A Cause says why a run ended other than by itself, where that is known.
type Cause string

// The causes.
const (
	CauseMemory    Cause = "memory"    // a memory limit, or the kernel's OOM killer
	CauseSignal    Cause = "signal"    // a signal that was not ours; the exit code names it
	CauseCPU       Cause = "cpu"       // a limit on CPU time
	CauseDisk      Cause = "disk"      // a limit on files or their size
	CauseProcesses Cause = "processes" // a limit on processes or threads
	CauseExit      Cause = "exit"      // the runtime's own process exited under the context
	CauseInterrupt Cause = "interrupt" // InterruptContext
	CauseRestart   Cause = "restart"   // RestartContext, or a server that restarted the kernel
	CauseClosed    Cause = "closed"    // Close or DeleteContext
	CauseServer    Cause = "server"    // the server or the connection to it went away
)

// A Result is the outcome of a run. A failing program is a Result with a nil error.
// Output that came before the end is in it even if the error is not nil.
type Result struct {
	Status   Status
	ExitCode int

	// Outputs holds what the program produced, in order, with consecutive
	// chunks of one stream joined and display updates and clears applied.
	Outputs []Output

	// Error is what the program raised, or nil. For a run that was stopped
	// (StatusTimeout, StatusCanceled, CauseInterrupt) it is where the program was, in
	// its own frames, if known. For StatusLost it describes the cause, if known.
	Error *ProgramError

	// Cause says why the run ended, where it did not end by itself.
	Cause Cause

	// StateLost says that variables of earlier runs were lost, with this run or before
	// it began. Every loss is reported once. It is always false for RunCode.
	StateLost bool

	// ExecutionCount is the number of the run since the state was empty, from 1, as
	// counted by the runtime if it counts; 0 if unknown.
	ExecutionCount int

	// Duration is the wall-clock time from the start of the program to its end,
	// without queueing, the start of the runtime, and OnOutput after the end. A
	// program that prints more than is buffered waits for OnOutput.
	Duration time.Duration

	// Truncated says what Outputs lacks, and why.
	Truncated []Truncation

	// Artifacts lists what the run created, changed or renamed in the directory in which
	// it started, up to [MaxArtifacts], sorted by path, where RunOptions.Artifacts asks
	// for it. Truncated reports what is missing, with the Stream "artifacts".
	Artifacts []Artifact

	// Calls are the calls that the program made of functions of the host, by
	// number: the first and the last ones of more than [MaxCallRecords].
	Calls []CallRecord

	// Refusals says which requests the network policy refused to the run, one sentence
	// each, the first [MaxRefusals] different ones.
	Refusals []string

	// CallbackErr joins the errors and panics of OnOutput, and names
	// functions that had not returned when the run did, although their ctx had
	// ended. It is not part of the JSON form.
	CallbackErr error
}

// A ProgramError is an error that the program did not handle.
type ProgramError struct {
	Name    string `json:"name,omitempty"` // such as "ZeroDivisionError"
	Message string `json:"message,omitempty"`

	// Traceback holds the runtime's own report, line by line, without ANSI
	// sequences; RawTraceback the same as it came, where that differs.
	Traceback    []string `json:"traceback,omitempty"`
	RawTraceback []string `json:"rawTraceback,omitempty"`

	// Line is the line of the program, from 1, where it happened; 0 if
	// unknown.
	Line int `json:"line,omitempty"`

	// MissingModule names the module that could not be imported.
	MissingModule string `json:"missingModule,omitempty"`
}

// Error returns "name: message", or whichever of the two there is.
func (e *ProgramError) Error() string {
	switch {
	case e.Name == "":
		return e.Message
	case e.Message == "":
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// A Truncation says how much of a stream a Result lacks.
type Truncation struct {
	// Stream is "stdout", "stderr", "display", "result", "error": the
	// program's error, or "artifacts".
	Stream string
	// Bytes is how many bytes there were in all, -1 if unknown.
	Bytes int64
	// Kept is how many of them are in Outputs.
	Kept int64
	// Files is how many files are not in Artifacts, which has the first ones by
	// path; there may be more where Bytes is -1. It is 0 for other streams.
	Files  int
	Reason TruncationReason
}

// A TruncationReason says who dropped output.
type TruncationReason string

// The reasons.
const (
	TruncatedByLimit      TruncationReason = "limit"      // RunOptions.MaxOutput or a cap of the provider
	TruncatedByRate       TruncationReason = "rate"       // the server's rate limit
	TruncatedByConnection TruncationReason = "connection" // a socket that was lost
	TruncatedByExit       TruncationReason = "exit"       // the process died, and what it had not sent yet, if anything, went with it
)

// An Artifact is a file that a run created or changed.
type Artifact struct {
	Path   string `json:"path"`           // relative to the context's directory, with slashes
	MIME   string `json:"mime,omitempty"` // by its name, else by how it begins
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256,omitempty"` // lower-case hex; empty where Skipped

	// Data is the content, for a RunCode, whose files are mostly gone with it,
	// up to MaxArtifactData in all; nil where that did not suffice, and for runs
	// in a context, whose file is there for [Files].
	Data []byte `json:"data,omitempty"`

	// Skipped says why the file was not read: such as "symbolic link",
	// "FIFO" or "permission denied".
	Skipped string `json:"skipped,omitempty"`

	// Escaped says that the file's name is not UTF-8: Path is it as it stands
	// within a Go string literal, and strconv.Unquote, given quotes around it,
	// gives it back. It is no name for [Files].
	Escaped bool `json:"escaped,omitempty"`
}

// NotRun is the Result of a program that never started.
func NotRun() Result { return Result{Status: StatusNotRun, ExitCode: ExitNotRun} }

// OK reports whether the program ended normally.
func (r *Result) OK() bool { return r.Status == StatusOK }

// Stdout returns what this run wrote to its standard output.
func (r *Result) Stdout() string { return r.stream(Stdout) }

// Stderr returns what this run wrote to its standard error.
func (r *Result) Stderr() string { return r.stream(Stderr) }

func (r *Result) stream(k Kind) string {
	var b []byte
	for i := range r.Outputs {
		if o := &r.Outputs[i]; o.Kind == k && !o.Late {
			b = append(b, o.Data...)
		}
	}
	return string(b)
}

// Value returns the output that holds the last expression's value.
func (r *Result) Value() (Output, bool) {
	for i := len(r.Outputs) - 1; i >= 0; i-- {
		if o := r.Outputs[i]; o.Kind == Value && !o.Late {
			return o, true
		}
	}
	return Output{}, false
}

// Text returns the text/plain form of the last expression's value, empty if
// there is none.
func (r *Result) Text() string {
	o, _ := r.Value()
	return o.Text()
}

// Displays returns the displays and the value, in order.
func (r *Result) Displays() []Output {
	var list []Output
	for _, o := range r.Outputs {
		if o.Kind == Display || o.Kind == Value {
			list = append(list, o)
		}
	}
	return list
}

// Images returns one image for each display or value that has any, in order,
// PNG before JPEG, GIF, WebP and SVG.
func (r *Result) Images() []Representation {
	var list []Representation
	for i := range r.Outputs {
		if rep, ok := r.Outputs[i].Richest("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"); ok {
			list = append(list, rep)
		}
	}
	return list
}
