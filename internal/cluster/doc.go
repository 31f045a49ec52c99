// Package cluster groups embeddings, given as plain (n, d) float32 arrays from any tool.
// It does not use true labels; package metric scores the clusters.
package cluster
