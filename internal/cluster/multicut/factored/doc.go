// Package factored clusters the complete graph of n points whose costs are linear in the
// squared distance. It stores no cost: the multicut objective and every change of it are
// exact on all n(n-1)/2 edges at O(d) each, so that 100,000 points are no problem.
package factored
