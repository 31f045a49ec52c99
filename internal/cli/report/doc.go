// Package report is the command that makes tables and pages of runs.
package report
