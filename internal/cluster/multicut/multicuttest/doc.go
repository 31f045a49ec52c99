// Package multicuttest holds the oracles and fixtures of the tests of multicut and of its
// solvers.
package multicuttest
