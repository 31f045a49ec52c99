// Package measure measures on data how stable triplet metric learning is and how far its
// training risk lies from its true risk, and compares both with the bounds of Chen and
// others (AAAI 2023).
//
// A Learner makes theta, the coordinates of a symmetric matrix w, from a sample of
// positive and negative points; a Source draws samples and fresh points. Uniform
// replaces samples and learns again (Definition 1), OnAverage replaces three at a time
// (Definition 2), Gap compares training with true risk. Sweep does so over sizes, with
// rates as slopes on log-log axes. Excess compares the risk with the least one, Lemmas
// what the lemmas bound, Notions the other notions of stability; the first two need a distribution that is Known. The claims put the
// theorems to the test: T1 to T12 what they promise, S1, S2 and S4 where the printed
// statements fail.
//
// Everything is float64. The same options and seed give the same bits for any number of
// threads: repeats run side by side, each with random streams of its own.
package measure

import "errors"

// ErrInput marks errors of what a caller asked for or gave.
var ErrInput = errors.New("measurement")
