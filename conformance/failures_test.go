package conformance

import (
	"context"
	"errors"
	"fmt"
)

// failures tries everything without a testing.T, and closes the suite.
func (s *suite) failures(ctx context.Context) (list []failure) {
	for _, g := range s.groups() {
		for _, c := range s.checks(g) {
			if s.exempt(g, c) != "" {
				continue
			}
			if f := s.try(ctx, g, c); f != nil {
				list = append(list, *f)
			}
		}
	}
	for _, inv := range invariants {
		for _, err := range s.broken(inv.name) {
			list = append(list, inv.failure(err))
		}
	}
	if err := s.close(); err != nil {
		list = append(list, failure{check: "Close", err: err})
	}
	return list
}

// findings returns what a provider breaks.
func findings(ctx context.Context, cfg Config) error {
	s, err := newSuite(cfg)
	if err != nil {
		return err
	}
	var all []error
	for _, f := range s.failures(ctx) {
		all = append(all, fmt.Errorf("%s: %s", f.check, f.text()))
	}
	return errors.Join(all...)
}
