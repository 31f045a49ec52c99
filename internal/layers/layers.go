// Package layers holds the test of the house's order: which package may import
// which, and how large a file may grow. The table is in layers_test.go.
package layers
