// Package study compares runs as a file describes: a Spec lists tables, each with the results
// that it reads, the fields that group runs into rows, the scores, the contrasts and the
// claims. One engine makes every table:
//
//	runs -> observations -> rows -> reduced rows -> contrasts, claims -> document, table, picture
//
// An observation (package observe) is one result of a run, with fields (text) and values
// (numbers) by paths into its files. Observations with the same values of a table's fields
// form one row: its scores are means over seeds with Student's 95 % interval. Differences are
// paired by seed. Verdicts follow package verdict. Other computations, such as the peak of a
// curve or a slope, are reducers: Go functions that specs call by name.
package study
