// Package kills holds the test that a process killed at any moment loses nothing:
// every command and every kind of run, killed at random moments and at each system
// call, still ends with the files of an uninterrupted run. `make kill-test` runs it.
package kills
