//go:build race

package typescripttest

const raceEnabled = true
