package sandbox

import "errors"

func (s *Sandbox) probeBwrap() error { return errors.New("landing next") }
