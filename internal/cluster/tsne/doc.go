// Package tsne draws maps of points in which neighbors stay neighbors: t-SNE (van
// der Maaten and Hinton, JMLR 2008), exact and by Barnes and Hut (van der Maaten,
// JMLR 2014).
//
// Of two points, p_ij is large where one is among the near neighbors of the other,
// and q_ij = (1+||y_i-y_j||^2)^-1 / Z where their places on the map are near. The map
// makes KL(P||Q) = sum p_ij log(p_ij/q_ij) small by gradient descent. Each iteration
// adds attraction along the pairs with p_ij > 0 (affinity.go, sparse.go,
// attraction.go) and repulsion between all pairs, by cells of a quadtree that act on
// one another through expansions (tree.go, expansion.go, repulsion.go).
package tsne
