// Package progress is how long work reports how far it has come: a Count gets the
// items of one kind of work, a Say of several stages by name, and a Progress also takes
// notes. A solver whose Progress has other numbers, such as its objective, shows its search:
// those are numbers of its own, of which a caller passes on what people are to see.
package progress
