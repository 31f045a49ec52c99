// Package bench is the command that measures this machine.
package bench
