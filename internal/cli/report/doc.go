// Package report is the command that makes tables and pages of runs, and runs studies.
package report
