//go:build !cgo

// Package loop is the timed loop of busbar, in C: a build without cgo has none.
package loop
