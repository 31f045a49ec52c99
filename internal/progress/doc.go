// Package progress defines how long-running functions report progress: a Count for the
// items of a single kind of work, a Say for several stages with names, and a Progress that
// also takes notes. A solver may report further numbers, such as its objective; its caller
// decides which of them users see.
package progress
