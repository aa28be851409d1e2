// Package tier says which tests run. Without build tags tests need nothing but Go.
// The tag real adds tests that start interpreters, servers and sandboxes; the tag full,
// used with it every night, adds sizes, set-ups and counts that take long.
package tier
