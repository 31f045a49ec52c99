// Package evaluate scores the embeddings of a run or of files: retrieval, clustering,
// classification of pairs, baselines, and the noise rate that losses show.
//
// Eval is the command tercet eval on a run, Files on embeddings; NoiseRate is tercet noise.
// Each returns a document of package record. The definitions of the scores are in package
// metric; this package chooses the images, the options and the baselines.
package evaluate
