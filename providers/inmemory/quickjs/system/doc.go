// Package system has what the engine needs of the operating system: memory outside of
// Go's heap that can be revoked, and the process's time of computing.
package system
