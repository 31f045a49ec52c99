// Package robustness attacks the images of a run and scores how retrieval changes.
//
// Attack runs the attacks of package attack on the queries of a run; Curve repeats them for
// several budgets. Certify proves how many queries no perturbation of a budget can change.
// Each returns a document of package record. Package attack has the attacks themselves and
// needs no run.
package robustness
