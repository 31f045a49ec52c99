// Package hostile holds the test that runs the program on inputs made to break
// it: each has to end with its exit code and message, without a trace, and within
// limits of memory and time. The tables are in testdata/hostile at the root.
package hostile
