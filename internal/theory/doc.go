// Package theory computes what theorems say about learning from pairs and triplets,
// and measures on drawn examples whether it is so. A bound is given as printed, its
// errors named, beside what is true instead.
package theory
