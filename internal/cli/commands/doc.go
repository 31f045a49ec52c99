// Package commands tests the commands by their command lines. They share one test binary,
// since each that holds the whole program takes a second to compile and link.
package commands
