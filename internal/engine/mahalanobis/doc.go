// Package mahalanobis learns a quadratic form whose value is small for points of one
// class and large for others: the triplet metric learning that Chen and others analyze
// (AAAI 2023, "On the Stability and Generalization of Triplet Learning").
//
// A symmetric d x d matrix w gives a pair of points the number
//
//	h_w(x, x') = <w, (x-x')(x-x')^T> = (x-x')^T w (x-x'),
//
// the squared Mahalanobis distance where w is positive semidefinite, which the paper
// does not ask for. A triplet of two positives x+_i, x+_j (i != j) and a negative
// x-_k has
//
//	u = h_w(x+_i, x+_j) - h_w(x+_i, x-_k) + zeta
//
// and the loss phi(u) (eq. 6). A w is kept as theta = svec(w), so that <w, v> is the
// inner product of svecs and the Euclidean norm is the Frobenius norm. All is float64.
//
// Bits do not depend on the number of threads: anchors are split into chunks by
// their number alone, and chunks are added in their order.
package mahalanobis
