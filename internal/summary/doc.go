// Package summary puts the scores of runs side by side: Summarize groups runs, with means and
// intervals over seeds and notes on what makes them less than they seem; Select finds the
// configuration that is best on other images; RunPage is a page of runs with their pictures.
// EvalTable and AttackTable show one evaluation and one attack. Package rundir reads runs;
// comparisons that a description makes are package study's.
package summary
