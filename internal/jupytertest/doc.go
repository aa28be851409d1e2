// Package jupytertest starts a Jupyter server for tests of more than one
// provider.
package jupytertest
