// Package callers says which of several clients makes the calls of a ctx. A server
// sets it; what stores something for a client, such as whole outputs, reads it.
package callers

import "context"

type clientKey struct{}

// With returns a ctx whose calls are those of one client of several: read_output
// finds the outputs of its own runs only, commands in the background are its own, and a
// call with the id of another client's call is another call. Clients are compared with
// ==. A client that ends at some time, as a session does, has a method Life()
// context.Context, whose context ends with the client.
func With(ctx context.Context, client any) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// Of returns the client that makes the calls of ctx, nil if there is only one.
func Of(ctx context.Context) any { return ctx.Value(clientKey{}) }

// Life returns a context that ends when the client of ctx's calls ends. It never
// ends for a client without a method Life.
func Life(ctx context.Context) context.Context {
	if c, ok := Of(ctx).(interface{ Life() context.Context }); ok {
		return c.Life()
	}
	return context.Background()
}
