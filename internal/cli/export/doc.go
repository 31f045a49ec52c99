// Package export is the command tercet export: the network of a run for other programs.
package export
