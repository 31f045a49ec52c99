// Package attack is the command that attacks a run.
package attack
