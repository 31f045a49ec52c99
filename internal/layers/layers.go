// Package layers holds the test of the house's order: which package may import
// which, and how large a file may grow. The table is floors.txt.
package layers
