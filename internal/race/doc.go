// Package race tells tests how much to try: whether the race detector is on, with
// which what takes ten times as long, and shows it nothing new, is left out, and
// whether they are to be short.
package race
