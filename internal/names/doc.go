// Package names finds the name that somebody has most likely meant, and names the
// results of runs.
package names
