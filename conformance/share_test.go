package conformance

import (
	"testing"
)

// TestShares: together the shares have every clause, and each clause once.
func TestShares(t *testing.T) {
	config := func(s Share) Config {
		cfg := toyConfig(newToyStateful, true)
		cfg.Share = s
		return cfg
	}
	open := func(share Share) *suite {
		s, err := newSuite(config(share))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.close() })
		return s
	}
	tried := map[string]int{}
	for n := range 3 {
		s := open(Share{Number: n, Of: 3})
		for _, p := range s.parts() {
			for _, c := range p.checks {
				tried[p.group.name()+"/"+c.name]++
			}
		}
	}
	for _, p := range open(Share{}).parts() {
		for _, c := range p.checks {
			name := p.group.name() + "/" + c.name
			if tried[name] != 1 {
				t.Errorf("%s is tried %d times", name, tried[name])
			}
			delete(tried, name)
		}
	}
	if len(tried) > 0 {
		t.Errorf("not of the whole: %v", tried)
	}
	for _, s := range []Share{{Number: 1}, {Number: -1, Of: 2}, {Number: 2, Of: 2}} {
		if _, err := newSuite(config(s)); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
}
