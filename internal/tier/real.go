//go:build real

package tier

// Real reports that the tests that need real interpreters, servers and sandboxes run.
const Real = true
