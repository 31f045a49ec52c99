// Package printed declares the JSON documents that commands print with --json and that no
// other command reads: listings, plans, checks, bounds. Their keys are described as those of
// package record, whose types they use.
package printed
