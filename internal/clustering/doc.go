// Package clustering clusters the embeddings of a run or of files with package solve,
// draws the clusters and assigns new images to them.
//
// Cluster takes a run, Files embeddings and Graph a graph with edge costs; Assign gives new
// images the clusters that an earlier call has saved. The solvers and their bounds are in
// package cluster and need no run.
package clustering
