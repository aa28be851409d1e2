//go:build 386 || arm || s390x

package quickjs

var _ = theEngineNeedsALittleEndian64BitMachine
