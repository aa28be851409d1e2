//go:build !unix

package main

import "context"

func followSize(context.Context, func()) {}
