// Package export is the command tercet export: the network of a run, or its embeddings, for other programs.
package export
