// Package embed makes embeddings of images, with their labels and thumbnails, and reads
// embeddings that other tools have written.
//
// Batches runs a model over a data set and returns vectors (N, D); ReadVectors reads them
// from files. Packages evaluate, robustness, clustering and generalize compute their results
// from such vectors. Package store keeps those of large data sets in a folder.
package embed
