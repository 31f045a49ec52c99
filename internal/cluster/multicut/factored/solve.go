package factored

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tercet/internal/cluster/multicut"
)

// Options sets Factored.Solve. Zero values mean the defaults in brackets.
type Options struct {
	// Starts are clusterings to begin from, by name; each is brought to a local
	// optimum, the optima are fused, and the best is kept:
	//
	//	one         all nodes in one cluster, which is divided
	//	singletons  each node alone; clusters are joined, many at a time
	//	kmeans      K clusters of k-means
	//	gaec        greedy additive edge contraction on the matrix of all costs
	//	klj         the same, improved by Kernighan-Lin with joins
	//
	// [one, singletons; also klj up to 300 nodes, and one alone above 50,000]
	Starts  []string
	From    []int32 // (n) a clustering to begin from as well, any numbers
	K       int     // clusters of the start kmeans [as many as the start one ends with]
	Kicks   int     // how often about half of the best clusters are dissolved and solved again [32 up to 100 nodes, then by the work it takes: 12, 4 for 10,000 points of 64 dimensions in 20 clusters, none for large graphs]; negative: never
	MinSize int     // clusters with fewer nodes are dissolved in the end and their nodes put where they cost least [0: none]
	Rounds  int     // of joins, splits and moves, at most, from each start [100]
	Seed    uint64  // of kicks and of k-means
	// Progress, where set, is called when a round of a start or of a kick begins.
	Progress func(start string, round int)
}

const (
	klj      = 300    // most nodes for which klj is among the default starts
	two      = 50_000 // most nodes for which singletons is
	kicks    = 12
	few      = 100 // nodes up to which kicks also move nodes at random
	fewKicks = 32
	kickWork = 2e8     // products of two numbers that default kicks may take in a round
	matrix   = 1 << 31 // most bytes of the matrix of the starts gaec and klj
)

// Solve returns a clustering of low objective. From each start it divides, joins and
// moves until it finds nothing that gains: no single move or join gains then, and
// neither do divisions of a cluster in two and series of moves between two clusters,
// as far as they are searched for. Optima of several starts and kicks are combined by
// solving for the best unions of their intersections (Beier, Hamprecht and Kappes,
// Fusion moves for correlation clustering, CVPR 2015), so that the result is never
// worse than any of them. Every gain that counts is computed in float64 from sums of
// clusters, on all n(n-1)/2 edges; gains below about 1e-12 of the costs count as none.
//
// A round takes O(n K d) time for K clusters, as products of matrices; where
// n K d is above 2e11, nodes look only at the clusters of the 8 nearest of sqrt(K)
// groups, in O(n sqrt(K) d). Memory is O(n + K d) beyond the graph and a matrix of at
// most 3000^2 costs for fusing. The starts gaec and klj take n^2 numbers.
//
// The result has the same bits for any number of threads. Where no pair is farther
// apart than tau, one cluster is optimal and Result.Proven says so. Errors: unknown
// starts, options below 0, From of the wrong length, a canceled ctx.
func (f *Graph) Solve(ctx context.Context, o Options) (*multicut.Result, error) {
	if err := o.check(f.n); err != nil {
		return nil, err
	}
	if f.t >= (1+1e-6)*4*f.most {
		r := multicut.NewResult("factored", f, make([]int32, f.n))
		r.Proven = true
		return r, nil
	}
	s := &solver{f: f, o: o, refiner: newRefiner(f)}
	if err := s.run(ctx); err != nil {
		return nil, fmt.Errorf("factored multicut of %d points stopped: %w", f.n, err)
	}
	var warnings []string
	if s.capped {
		warnings = append(warnings, fmt.Sprintf("not at a local optimum after %d rounds: allow more", s.o.Rounds))
	}
	if o.MinSize > 1 {
		said, err := f.dissolve(ctx, s.best, o.MinSize)
		if err != nil {
			return nil, fmt.Errorf("factored multicut of %d points stopped: %w", f.n, err)
		}
		warnings = append(warnings, said...)
	}
	if f.blunt() && f.parts(s.best) {
		warnings = append(warnings, fmt.Sprintf("the threshold of %.4g is too small for data that reach %.4g from their mean: the gain of joining equal points is lost in rounding, and some are not joined; use solver kl, or a threshold above %.2g",
			f.tau, math.Sqrt(f.most)/f.zoom, 2*math.Sqrt(blunt*f.most)/f.zoom))
	}
	r := multicut.NewResult("factored", f, s.best)
	r.Rounds, r.Warnings = s.rounds, warnings
	return r, nil
}

// blunt is the least part of most that t must be for two equal points to be
// joined: twice the least gain of a cluster of one.
const blunt = 4e-12 / (1 - 4e-12 - 2e-9)

// blunt reports whether joining two equal points gains less than counts as a gain.
func (f *Graph) blunt() bool { return f.n > 1 && f.t <= blunt*f.most }

// parts reports whether equal points have different labels.
func (f *Graph) parts(labels []int32) bool {
	order := make([]int, f.n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return slices.Compare(f.point(i), f.point(j)) })
	for k, i := range order[1:] {
		if j := order[k]; labels[i] != labels[j] && slices.Equal(f.point(i), f.point(j)) {
			return true
		}
	}
	return false
}

func (o *Options) check(n int) error {
	for _, name := range o.Starts {
		if !slices.Contains([]string{"one", "singletons", "kmeans", "gaec", "klj"}, name) {
			return fmt.Errorf("%w: unknown start %q (valid: one, singletons, kmeans, gaec, klj)", multicut.ErrInput, name)
		}
	}
	switch {
	case o.K < 0 || o.K > n:
		return fmt.Errorf("%w: k-means of %d clusters of %d points", multicut.ErrInput, o.K, n)
	case o.MinSize < 0 || o.Rounds < 0:
		return fmt.Errorf("%w: a smallest size of %d and at most %d rounds: both must be non-negative", multicut.ErrInput, o.MinSize, o.Rounds)
	case o.From != nil && len(o.From) != n:
		return fmt.Errorf("%w: %d labels to begin from, for %d points", multicut.ErrInput, len(o.From), n)
	}
	if o.Rounds == 0 {
		o.Rounds = 100
	}
	if len(o.Starts) == 0 && o.From == nil {
		o.Starts = []string{"one"}
		if n <= two {
			o.Starts = append(o.Starts, "singletons")
		}
		if n <= klj {
			o.Starts = append(o.Starts, "klj")
		}
	}
	return nil
}

// solver holds the best clustering so far.
type solver struct {
	f       *Graph
	o       Options
	refiner *refiner
	best    []int32
	value   float64 // objective of best
	rounds  int     // in all
	capped  bool    // rounds ended the last search
}

func (s *solver) run(ctx context.Context) error {
	if s.o.From != nil {
		s.refiner.set(s.o.From, nil)
		if err := s.consider(ctx, "from"); err != nil {
			return err
		}
	}
	for _, name := range s.o.Starts {
		if err := s.start(ctx, name); err != nil {
			return err
		}
		if err := s.consider(ctx, name); err != nil {
			return err
		}
	}
	return s.kicks(ctx)
}

// refine brings the refiner's clustering to a local optimum.
func (s *solver) refine(ctx context.Context, name string) error {
	rounds, err := s.refiner.refine(ctx, s.o.Rounds, func(round int) {
		if s.o.Progress != nil {
			s.o.Progress(name, round)
		}
	})
	s.rounds += rounds
	s.capped = rounds == s.o.Rounds
	return err
}

// consider refines the refiner's clustering, fuses it with the best one and keeps
// what costs least.
func (s *solver) consider(ctx context.Context, name string) error {
	if err := s.refine(ctx, name); err != nil {
		return err
	}
	labels := slices.Clone(s.refiner.s.labels)
	value := s.f.Objective(labels)
	if s.best == nil {
		s.best, s.value = labels, value
		return nil
	}
	other := labels
	if value < s.value {
		s.best, s.value, other = labels, value, s.best
	}
	fused, err := s.f.fuse(ctx, s.best, other)
	if err != nil || fused == nil {
		return err
	}
	s.refiner.set(fused, s.best)
	if err := s.refine(ctx, name); err != nil {
		return err
	}
	if value := s.f.Objective(s.refiner.s.labels); value < s.value {
		s.best, s.value = slices.Clone(s.refiner.s.labels), value
	}
	return nil
}
