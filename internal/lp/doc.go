// Package lp solves linear programs with bounded variables and sparse integer rows by
// the dual simplex method. Rows and bounds may change between two solutions, as cutting
// planes and branch and bound need it.
package lp
