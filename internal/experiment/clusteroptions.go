package experiment

import (
	"fmt"

	"tercet/internal/cluster/link"
)

// Methods of clustering.
const (
	KMeans        = "kmeans"
	Multicut      = "multicut"
	Agglomerative = "agglomerative"
	HDBSCAN       = "hdbscan"
)

// ClusterMethods lists the methods.
func ClusterMethods() []string { return []string{KMeans, Multicut, Agglomerative, HDBSCAN} }

// Where a threshold comes from.
const (
	FromAuto    = "auto" // margins where the loss fixes a threshold, otherwise fit
	FromMargins = "margins"
	FromFit     = "fit"
	FromValue   = "value"
)

// MulticutSolvers lists the solvers; "kl" is GAEC, then Kernighan and Lin's updates
// with joins.
func MulticutSolvers() []string {
	return []string{"factored", "gaec", "balanced", "fixation", "mutex", "kl", "exact"}
}

// OptionError is a mistake in options, not in data.
type OptionError struct{ msg string }

// Error says what is wrong and what to do.
func (e *OptionError) Error() string { return e.msg }

func optionf(format string, args ...any) error { return &OptionError{fmt.Sprintf(format, args...)} }

// sure is P(join) at distance 0, and P(cut) at alpha, that a scale stands for where
// nothing else says it.
const sure = 0.99

// natural returns the scale of a link on d^2 or d that says P(join) = sure at
// distance 0, or, where the margins are known, P(cut) = sure at d^2 = alpha.
func natural(kind string, tau, alpha, beta float64) float64 {
	switch {
	case kind == link.OnSquared && alpha > beta && beta > 0:
		return link.NaturalScale(alpha, beta, 1-sure)
	case kind == link.OnSquared:
		return link.NaturalScale(2*tau*tau, 0, 1-sure)
	}
	return link.NaturalScale(2*tau, 0, 1-sure)
}
