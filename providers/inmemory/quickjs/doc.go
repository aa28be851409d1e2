// Package quickjs is the JavaScript engine of providers/inmemory: QuickJS,
// translated to Go by modernc.org/libquickjs.
package quickjs
