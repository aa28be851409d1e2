//go:build unix && !linux

// Package acl lets further users into directories; see acl(5).
package acl

import "errors"

// Grant is not supported on this system.
func Grant(fd, uid int) error { return errors.ErrUnsupported }
