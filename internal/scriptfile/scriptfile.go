// Package scriptfile tells a provider of the file that a program is from, of which it
// is run as the whole, as by its interpreter: its frames bear the file's name, and it
// finds its arguments.
package scriptfile

import "context"

// A Script is what a program is run as.
type Script struct {
	File string // its name, empty where there is no file
	// Args are what a JavaScript program has in process.argv behind its interpreter, the
	// name first; none if they are unknown or known already.
	Args []string
}

type key struct{}

// With returns a context for the run of a script.
func With(ctx context.Context, s Script) context.Context {
	return context.WithValue(ctx, key{}, s)
}

// Of returns the script of a run, empty where it is of none.
func Of(ctx context.Context) Script {
	s, _ := ctx.Value(key{}).(Script)
	return s
}
