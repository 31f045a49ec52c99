// Package metric measures how a run of model mahalanobis generalizes: metrics are learned
// again from samples of its training images, and their gap and stability compared with the
// bounds of the theory. Package theory/measure does the measuring; here are the samples of
// a run, its way of learning, and what is kept in its directory.
package metric
