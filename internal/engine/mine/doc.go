// Package mine selects the tuples of a batch that the loss uses.
//
// A Miner takes embeddings (B, D) and labels (B) and returns triplets or pairs of rows:
// random, semihard (FaceNet), softhard and hardest negatives, draws weighted by distance
// (Wu et al. 2017), or all triplets of the batch. Distances are those of the loss,
// squared or not. The choice depends only on embeddings, labels and the random stream.
//
// A miner is one file with its keys, registered in Family; semihard.go is the pattern.
package mine
