// Package tsne draws maps of points in which neighbours stay neighbours: t-SNE (van
// der Maaten and Hinton, JMLR 2008), exact and by Barnes and Hut.
package tsne
