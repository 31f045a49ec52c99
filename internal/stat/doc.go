// Package stat holds the statistics that results are reported with: means with
// Student's t, quantiles, intervals of proportions, and the line of least squares.
// Each definition has one place and one name; where two definitions are in use, each
// says who uses it.
package stat
