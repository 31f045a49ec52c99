// Package kernel computes on float32 slices: matrix products, convolutions,
// pooling, normalization, distances. It knows no arrays, layers or files.
//
// Kernels have levels (avx512, avx2, generic), chosen when the program starts
// from the processor's features and forced by TERCET_KERNEL. Level amx, which is
// never chosen but by TERCET_KERNEL, is avx512 but for products of matrices, which
// tiles of bfloat16 compute to the accuracy of float32 (amx_split.go). At one level the
// result is bit-identical for any number of threads: work is split over
// outputs, never over the summed index; where a sum must be split, its parts
// depend on the sizes alone and are added in their order.
//
// Kernels trust their callers' sizes and panic on slices that are too short;
// package array and the layers check shapes that come from users.
//
// The matrix product is built in three layers: tiles of C held in registers
// (assembly made by _generate, or gemm_generic.go), blocks that fit the caches
// (gemm_block.go), and tasks for threads (gemm_run.go). Convolutions use the
// same tiles: directly on the images (conv_correlate.go, conv_weights.go), or on
// their transforms (winograd.go); a ConvPlan says which. All else goes once through
// memory (_generate/vector): each operation is rounded by itself, so that these
// kernels have the same bits on all levels, unless their comments say otherwise.
// To change the assembly, edit _generate and run go generate; build with the tag
// noasm to leave it out.
// The files conformance_*_test.go are the suite that every level has to pass.
package kernel
