//go:build !full

package tier

// Full reports that the nightly tests and sizes run.
const Full = false
