// Package robustness attacks the images of a run and scores how retrieval changes.
package robustness
