// Package generalize is the commands that measure how a run generalizes: gap, stability, influence.
package generalize
