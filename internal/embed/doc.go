// Package embed makes embeddings of images, with their labels and thumbnails, and reads
// embeddings that other tools have written.
package embed
