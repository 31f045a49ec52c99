// Package solve clusters embeddings or a graph by one of the methods and describes the
// result: it chooses the solver and the bound of a multicut, fits its threshold, compares
// the answer with other clusterings and keeps what new items are assigned by. It needs no
// run directory.
package solve
