package jupyter

import "time"

// WithoutAckFix returns options whose sockets leave acknowledgements to the
// system, as other clients do.
func WithoutAckFix(o Options) Options {
	o.noAckFix = true
	return o
}

// WithPong returns options whose sockets hasten acknowledgements by pongs, as
// where the system has no better way.
func WithPong(o Options) Options {
	o.pongFix = true
	return o
}

// WithJSON returns options whose sockets do not offer the binary protocol.
func WithJSON(o Options) Options {
	o.plainJSON = true
	return o
}

// WithListings returns options whose listings have so many bytes of names, in so many
// pages.
func WithListings(o Options, names, pages int) Options {
	o.names, o.pages = names, pages
	return o
}

// WithLease returns options whose commands go on for so long after the last word
// of their client.
func WithLease(o Options, d time.Duration) Options {
	o.lease = d
	return o
}
