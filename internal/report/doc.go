// Package report summarizes runs: means over seeds, the best configuration, tables and pages.
package report
