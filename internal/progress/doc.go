// Package progress is how long work reports how far it has come.
package progress
