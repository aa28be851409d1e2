//go:build unix

package sandbox

// ahead returns the limits of a process that may use so much more.
func (l Limits) ahead(a Ahead) Limits {
	if l.CPU > 0 {
		l.CPU += a.CPU
	}
	if l.Memory > 0 {
		l.Memory += a.Memory
	}
	return l
}

// data returns the limit of private data, 0 for none.
func (p *plan) data() int64 {
	if p.limits.Memory <= 0 {
		return 0
	}
	return p.limits.Memory - p.Ahead.Memory + p.Ahead.Data
}
