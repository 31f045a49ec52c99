// Package study is the command that lists, runs and reports studies.
package study
