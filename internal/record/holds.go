package record

import "slices"

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with more stored or scored. A threshold of pairs is a setting, as in Covers.
func (d Eval) Holds(o EvalOptions) bool {
	had := d.Options
	widen(&o.Ks, had.Ks)
	widen(&o.FMR, had.FMR)
	o.Pairs, o.Baselines = o.Pairs || had.Pairs, o.Baselines || had.Baselines
	o.PerQuery, o.PerClass = o.PerQuery || had.PerQuery, o.PerClass || had.PerClass
	o.Batch = had.Batch // which changes no bit
	if !o.KMeans {
		o.KMeans, o.K, o.NInit = had.KMeans, had.K, had.NInit
	}
	if o.Bootstrap == 0 {
		o.Bootstrap, o.Intervals = had.Bootstrap, had.Intervals
	}
	return SameJSON(had, o)
}

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with more attacks, variants or intervals, or the values of each query.
func (d Attack) Holds(o AttackOptions) bool {
	had := d.Options
	widen(&o.Attacks, had.Attacks)
	widen(&o.Variants, had.Variants)
	o.PerQuery = o.PerQuery || had.PerQuery
	if o.Bootstrap == 0 {
		o.Bootstrap = had.Bootstrap
	}
	return SameJSON(had, o)
}

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with further galleries after those, checks of gradients, or attacks on the gallery.
func (d Worst) Holds(o WorstOptions) bool {
	had := d.Options
	if n := len(o.Galleries); n <= len(had.Galleries) && slices.Equal(o.Galleries, had.Galleries[:n]) {
		o.Galleries = had.Galleries // each begins with what broke queries in those before
	}
	o.Battery, o.Moves = o.Battery || had.Battery, o.Moves || had.Moves
	return SameJSON(had, o)
}

// Holds reports whether d has all that o asks for, with the same values: its options are
// o, with smaller budgets, the largest budget of each query, or certificates of the gallery.
func (d Certify) Holds(o CertifyOptions) bool {
	had := d.Options
	if len(o.Eps) > 0 && len(had.Eps) > 0 && slices.Max(o.Eps) == slices.Max(had.Eps) { // that of the score
		widen(&o.Eps, had.Eps)
	}
	o.Radii, o.Moves = o.Radii || had.Radii, o.Moves || had.Moves
	return SameJSON(had, o)
}

// widen makes asked what there is, where that has all of asked, in any order.
func widen[E comparable](asked *[]E, had []E) {
	for _, v := range *asked {
		if !slices.Contains(had, v) {
			return
		}
	}
	*asked = had
}
