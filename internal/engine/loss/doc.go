// Package loss holds objectives: functions from embeddings and tuples to a loss and its
// gradient with respect to the embeddings.
//
// An Objective evaluates z (B, D) on Tuples: triplets (a, p, n) or labeled pairs of
// rows. Sums are float64, results have the same bits for any number of threads, and a
// step allocates nothing after the first. Rows outside the batch and values that are
// not finite are errors; no tuples give loss 0.
//
// A loss is one file: its options, whose tags are the keys of a config, its formula with
// the source, and its registration in Family. Options that implement one of the
// interfaces in options.go tell other packages more: whether distances are squared, the
// largest value, a threshold between similar and different pairs. triplet.go is the
// pattern to copy; package losstest tests what all losses must do.
package loss
