// Package cluster is the command that clusters a run, embeddings or a graph.
package cluster
