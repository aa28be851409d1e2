package jupyter

// WithoutAckFix returns options whose sockets leave acknowledgements to the
// system, as other clients do.
func WithoutAckFix(o Options) Options {
	o.noAckFix = true
	return o
}

// WithJSON returns options whose sockets do not offer the binary protocol.
func WithJSON(o Options) Options {
	o.plainJSON = true
	return o
}
