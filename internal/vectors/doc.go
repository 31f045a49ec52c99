// Package vectors reads and writes matrices of vectors in the formats of other tools: npy
// of numpy; fbin, u8bin and i8bin of big-ann-benchmarks and cuVS; fvecs and bvecs of
// TEXMEX and faiss. Lists of neighbors are read from ibin, ivecs and npy of integers.
// Files may be larger than memory: rows are read a range at a time, at their offset.
//
// Layouts, all numbers little-endian but in npy, whose header says it:
//
//	*bin   uint32 rows, uint32 columns, then the numbers, row by row
//	*vecs  for each row int32 columns, then its numbers
//	npy    the header of numpy, then the numbers; here of two dimensions in C order
//
// A file whose size is not what its header says, and a row of another length than the
// first, are errors of kind fault.ErrFormat.
package vectors
