//go:build real

package sandbox_test

import "golang.org/x/sys/unix"

// Only this processor has these.
func init() {
	for name, nr := range map[string]int{"USELIB": unix.SYS_USELIB, "MODIFY_LDT": unix.SYS_MODIFY_LDT, "IOPL": unix.SYS_IOPL, "IOPERM": unix.SYS_IOPERM} {
		numbers[name] = nr
	}
}
