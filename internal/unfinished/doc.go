// Package unfinished keeps what a long computation has done so far: a file with a record for
// each finished part (a chunk), from which a killed process continues and in which tasks leave
// their shares for a merge.
package unfinished
