package solve

import "tercet/internal/cluster/link"

// Methods of clustering.
const (
	KMeans        = "kmeans"
	Multicut      = "multicut"
	Agglomerative = "agglomerative"
	HDBSCAN       = "hdbscan"
)

// Methods lists the methods.
func Methods() []string { return []string{KMeans, Multicut, Agglomerative, HDBSCAN} }

// Where a threshold comes from.
const (
	FromAuto    = "auto" // margins where the loss fixes a threshold, otherwise fit
	FromMargins = "margins"
	FromFit     = "fit"
	FromValue   = "value"
)

// Solvers lists the solvers; "kl" is GAEC, then Kernighan and Lin's updates
// with joins.
func Solvers() []string {
	return []string{"factored", "gaec", "balanced", "fixation", "mutex", "kl", "exact"}
}

// sure is P(join) at distance 0, and P(cut) at alpha, that a scale stands for where
// nothing else says it.
const sure = 0.99

// Natural returns the scale of a link on d^2 or d that says P(join) = sure at
// distance 0, or, where the margins are known, P(cut) = sure at d^2 = alpha.
func Natural(kind string, tau, alpha, beta float64) float64 {
	switch {
	case kind == link.OnSquared && alpha > beta && beta > 0:
		return link.NaturalScale(alpha, beta, 1-sure)
	case kind == link.OnSquared:
		return link.NaturalScale(2*tau*tau, 0, 1-sure)
	}
	return link.NaturalScale(2*tau, 0, 1-sure)
}
