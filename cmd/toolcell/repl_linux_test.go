package main

import (
	"testing"

	"github.com/toolcell/toolcell/internal/jupytertest"
)

// TestReplOfAKernel types at a prompt whose programs a Jupyter kernel runs.
func TestReplOfAKernel(t *testing.T) {
	typist{"jupyter", ">>> ", "number = 41", "number + 1", foreverPython, "if number:\r\tprint('in' + 'side')\r", "inside\r\n", "number.bit_len", "number.bit_length", "()"}.
		types(t, "--url", jupytertest.Server(t))
}
