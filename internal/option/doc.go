// Package option defines the error for wrong options, as opposed to wrong data, and maps
// options to the names that messages use for them.
package option
