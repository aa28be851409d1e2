// Package jupyter runs code in the kernels of a Jupyter Server, a Kernel
// Gateway, an Enterprise Gateway or a JupyterHub user server, over their REST
// and WebSocket API. Only the URL tells them apart.
//
//	ci, err := jupyter.NewStateful(ctx, &jupyter.Options{
//		URL: "http://localhost:8888", Token: token})
//
// [New] starts a kernel for each run and deletes it; with [NewStateful] each
// context is a kernel.
package jupyter
