// Package compare says whether one network is better than another: differences of scores
// paired by seed and by query, with intervals and permutation tests.
//
// Over seeds it speaks of training once more; over queries of other images of the same
// kind, with the networks as they are. Neither covers the other.
package compare
