// Package worst measures the worst case of retrieval: for how many queries the nearest row
// of a fixed gallery is still right, whatever is done to the query's pixels within a ball.
// An ensemble of attacks runs on the queries that the attacks before it have not broken, and
// a query counts as broken if one attack has found an image for which the evaluation itself
// puts a row of another label first. The result is an upper bound on the share of queries
// that are robust (Croce & Hein, ICML 2020, for classifiers; Carlini et al.,
// arXiv 1902.06705: report the mean over queries of the worst attack on each).
package worst
