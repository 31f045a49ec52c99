// Package data is the command that lists, inspects and previews data.
package data
