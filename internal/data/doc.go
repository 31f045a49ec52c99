// Package data reads datasets, splits them, and feeds batches to training.
//
// Images are float32 in [0,1], row-major, channels last. Everything that is
// random comes from named streams of the run's seed, so that any batch of any
// epoch can be made again without the ones before it.
package data
