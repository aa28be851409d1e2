package jupyter

// WithJSON returns options whose sockets do not offer the binary protocol.
func WithJSON(o Options) Options {
	o.plainJSON = true
	return o
}
