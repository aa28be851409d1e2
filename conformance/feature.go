package conformance

import "slices"

// A Feature is something that a provider may be unable to do. Unless it is
// declared in [Config].Lacks, it must work. What else programs of a language cannot do
// is an empty field of its [Programs].
type Feature string

// The features.
const (
	// Manager: the value is a codeinterp.ContextManager.
	Manager Feature = "Manager"
	// Values: the last expression's value is an output, with its JSON form.
	Values Feature = "Values"
	// Displays: programs can show MIME bundles.
	Displays Feature = "Displays"
	// DisplayUpdates: displays can be updated by id and cleared.
	DisplayUpdates Feature = "DisplayUpdates"
	// FullOutput: tens of megabytes of output arrive whole. Without it the
	// loss must still be reported in Truncated.
	FullOutput Feature = "FullOutput"
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
	// ErrorLine: ProgramError.Line is set for an uncaught error.
	ErrorLine Feature = "ErrorLine"
	// MissingModule: ProgramError.MissingModule is set.
	MissingModule Feature = "MissingModule"
)

// In returns the feature in one language only.
func (f Feature) In(language string) Feature { return f + Feature("@"+language) }

// lacks reports whether the feature is declared as lacking in the language.
func (c *Config) lacks(f Feature, language string) bool {
	return slices.Contains(c.Lacks, f) || slices.Contains(c.Lacks, f.In(language))
}
