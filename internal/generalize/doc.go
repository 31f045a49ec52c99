// Package generalize measures how a run generalizes: its gap between training and test
// triplets, its stability under the replacement of training images, and their influence.
package generalize
