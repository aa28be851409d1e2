// Package scriptfile tells a provider of the file that a program is from, of which it
// is run as the whole, as by its interpreter: its frames bear the file's name.
package scriptfile

import "context"

type key struct{}

// With returns a context for the run of a file, by its name.
func With(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, key{}, name)
}

// Of returns the name of the file of a run, empty where it is of none.
func Of(ctx context.Context) string {
	name, _ := ctx.Value(key{}).(string)
	return name
}
