// Package race tells tests whether the race detector is on. What takes ten times
// as long with it, and shows it nothing new, is tried in full without it.
package race
