// Package option holds the error of a mistake in options, as against one in data.
package option
