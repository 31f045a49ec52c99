// Package evaluate scores the embeddings of a run or of files: retrieval, clustering,
// classification of pairs, baselines, and the noise rate that losses show.
package evaluate
