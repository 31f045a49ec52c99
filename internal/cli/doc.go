// Package cli is the command line: Main, the root of the commands, help, completion and
// manual pages. Each command is a package below: an options struct with flags, a
// constructor and a run function that knows no cobra; what they share is package base. No
// mathematics is done here.
package cli
