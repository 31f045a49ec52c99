// Package search is the command that finds the nearest images.
package search
