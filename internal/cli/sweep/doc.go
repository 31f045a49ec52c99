// Package sweep is the command tercet sweep: where the runs of a sweep stand.
package sweep
