//go:build !linux

package probecache

// Without a sandbox, programs can change all that their user can.

func seal(string, []byte) error { return nil }

func sealed(string, []byte) bool { return true }
