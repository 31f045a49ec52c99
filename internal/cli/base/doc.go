// Package base is what the commands share: streams and progress, exit codes, the form of a
// command and its help, arguments, limits and gates, and the choice of a run or of files.
package base
