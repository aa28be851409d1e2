//go:build !unix

package machine

// checkOwner relies on the directory's access list.
func checkOwner(string) error { return nil }
