// Package base holds the code that all commands share: streams and progress, exit codes, the
// layout of help, arguments, limits and gates, and the choice of a run or of files.
package base
