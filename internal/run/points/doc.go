// Package points turns images into what a Mahalanobis metric is learned from: a frozen map
// makes Features of them, points in a ball, and Problems set the points of one class against
// the rest. Prepare does both as a config says. It knows no run directory.
package points
