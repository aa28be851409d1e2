//go:build !race

package inmemory_test

const raceEnabled = false
