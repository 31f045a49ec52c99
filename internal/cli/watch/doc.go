// Package watch is the command that follows runs while another process trains them.
package watch
