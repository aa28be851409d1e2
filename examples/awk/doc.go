// Package awk is a whole provider in one short file, as an example of writing
// one: awk programs with streams, standard input, timeouts, interrupts, and
// contexts. Package codeinterp/driver does the rest, and package conformance
// proves it.
//
// Awk keeps no variables from one program to the next, so what a context keeps
// is its directory: programs find the files that earlier ones wrote.
//
// # Limits
//
// Nothing stands between the programs and the host, and Describe says so. A
// process that leaves its process group is not ended with its run. The provider
// runs on Unix.
package awk
