// Package kernel computes on float32 slices: matrix products, convolutions,
// pooling, normalisation, distances. It knows no arrays, layers or files.
//
// Kernels have levels (avx512, avx2, generic), chosen when the program starts
// from the processor's features and forced by TERCET_KERNEL. At one level the
// result is bit-identical for any number of threads: work is split over
// outputs, never over the summed index.
//
// Kernels trust their callers' sizes and panic on slices that are too short;
// package array and the layers check shapes that come from users.
package kernel
