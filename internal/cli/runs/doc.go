// Package runs is the command tercet runs: it lists, shows and compares run directories,
// and removes them.
package runs
