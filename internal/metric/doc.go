// Package metric scores embeddings: retrieval and clustering measures on plain
// (n, d) float32 arrays and int32 labels, from whatever tool they come.
//
// Many measures go by one name and differ in detail, so every value carries a
// definition id such as "map@r(pml)"; the doc comments of [Retrieve],
// [Clustering] and [Verify] say what each id means. Nothing here needs memory for all pairs.
package metric
