// Package search finds the nearest images of one folder of embeddings for those of another,
// or for image files.
package search
