// Package clustering clusters the embeddings of a run or of files with package solve,
// draws the clusters and assigns new images to them.
package clustering
