// Package option holds the error of a mistake in options, as against one in data, and the
// names by which messages call options.
package option
