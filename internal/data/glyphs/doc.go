// Package glyphs is the built-in dataset: images of characters, each character
// a class, drawn from the outlines of the Go and the Liberation fonts with
// random face, placement, warp, stroke weight, clutter, blur, contrast and
// noise. It needs no files, and the same options give the same bytes on every
// machine: all arithmetic is on integers.
package glyphs
