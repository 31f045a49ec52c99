// Package cluster groups embeddings: plain (n, d) float32 arrays,
// from whatever tool they come. It knows no true labels; package metric scores
// what comes out.
package cluster
