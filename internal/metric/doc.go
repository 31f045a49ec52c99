// Package metric scores embeddings: retrieval and clustering scores of plain
// (n, d) float32 arrays and int32 labels from any tool.
//
// Different tools use the same name for scores that differ in detail, so every value carries
// a definition id such as "map@r(pml)". The doc comments of [Retrieve], [Clustering] and
// [Verify] define each id. No function needs memory for all pairs of items.
package metric
