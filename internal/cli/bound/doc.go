// Package bound is the command that calculates bounds.
package bound
