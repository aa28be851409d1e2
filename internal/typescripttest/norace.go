//go:build !race

package typescripttest

const raceEnabled = false
