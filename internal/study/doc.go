// Package study compares runs by a description: a Spec names tables, each with the results
// that it reads, what makes runs one row, the scores, the contrasts and the claims. One
// engine makes every table:
//
//	runs -> observations -> rows -> reduced rows -> contrasts, claims -> document, table, picture
//
// An observation (package observe) is one result of a run, with fields (text) and values
// (numbers) by paths into its files. Observations that agree in a table's fields are one
// row: its scores are means over seeds with Student's 95 % interval. Differences are taken
// seed by seed. Verdicts are those of package verdict. What is more than that, such as a
// peak of a curve or a slope, is a reducer: a Go function with a name that specs use.
package study
