// Package words holds the test of the language of what people read: help, pages, configs,
// the strings of the program, its comments and names. CONTRIBUTING.md lists what to write
// in place of a retired word.
package words
