package conformance

import (
	"strings"
)

// A Feature is something that a provider may be unable to do. Unless it is
// declared in [Config].Lacks, it must work.
type Feature string

// The features.
const (
	// Manager: the value is a codeinterp.ContextManager.
	Manager Feature = "Manager"
	// Describer: the value is a codeinterp.Describer.
	Describer Feature = "Describer"
	// Values: the last expression's value is an output, with its JSON form.
	Values Feature = "Values"
	// Displays: programs can show MIME bundles.
	Displays Feature = "Displays"
	// DisplayUpdates: displays can be updated by id and cleared.
	DisplayUpdates Feature = "DisplayUpdates"
	// BinaryOutput: streams pass on bytes that are not UTF-8. Without it nothing
	// prints NUL either, which texts of some languages cannot have.
	BinaryOutput Feature = "BinaryOutput"
	// FullOutput: tens of megabytes of output arrive whole. Without it the
	// loss must still be reported in Truncated.
	FullOutput Feature = "FullOutput"
	// Stdin: RunOptions.Stdin reaches the program. Without it, too, reading fails.
	Stdin Feature = "Stdin"
	// Env: RunOptions.Env and ContextOptions.Env reach the program.
	Env Feature = "Env"
	// Cwd: ContextOptions.Cwd is the directory that a context's runs start in.
	Cwd Feature = "Cwd"
	// Files: a file that a run of a context writes is there for the next.
	Files Feature = "Files"
	// PrivateFiles: a context that asks for no directory gets one of its own, and
	// so does a RunCode.
	PrivateFiles Feature = "PrivateFiles"
	// Processes: programs are processes, which can die by a signal.
	Processes Feature = "Processes"
	// Children: programs can start processes that outlive the run's code.
	Children Feature = "Children"
	// LateOutput: what a program's threads or children print after the end
	// of its run arrives with the context's next run.
	LateOutput Feature = "LateOutput"
	// LateApart: what they print while a later run is in progress is kept apart
	// from that run's own output.
	LateApart Feature = "LateApart"
	// InterruptKeepsState: a context keeps its variables when a run that
	// does not resist is stopped by a timeout or by the caller.
	InterruptKeepsState Feature = "InterruptKeepsState"
	// Traceback: ProgramError.Traceback is set for an uncaught error, and has its name
	// and message.
	Traceback Feature = "Traceback"
	// ErrorLine: ProgramError.Line is set for an uncaught error.
	ErrorLine Feature = "ErrorLine"
	// MissingModule: ProgramError.MissingModule is set.
	MissingModule Feature = "MissingModule"
	// ExecutionCount: Result.ExecutionCount numbers a context's runs.
	ExecutionCount Feature = "ExecutionCount"
)

// In returns the feature in one language only.
func (f Feature) In(language string) Feature { return f + Feature("@"+language) }

// split returns the feature's name and its language, empty for all.
func (f Feature) split() (Feature, string) {
	name, language, _ := strings.Cut(string(f), "@")
	return Feature(name), language
}

// lacks reports whether the feature is declared as lacking in the language.
// An empty language asks for the provider as a whole.
func (c *Config) lacks(f Feature, language string) bool {
	for _, l := range c.Lacks {
		if name, in := l.split(); name == f && (in == "" || in == language) {
			return true
		}
	}
	return false
}
