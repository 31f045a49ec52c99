// Package compare is the command tercet compare: whether one run, configuration or set of
// embeddings is better than another.
package compare
