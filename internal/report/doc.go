// Package report reads run directories and makes tables and pages of them.
package report
