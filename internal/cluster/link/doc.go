// Package link turns distances into probabilities that two points belong to
// different clusters, and these into the costs of a multicut.
package link
