package factored

import (
	"context"
	"fmt"

	"tercet/internal/cluster"
	"tercet/internal/cluster/multicut"
	"tercet/internal/rng"
)

// start sets the refiner to a start by name.
func (s *solver) start(ctx context.Context, name string) error {
	labels := make([]int32, s.f.n)
	switch name {
	case "one":
	case "singletons":
		for i := range labels {
			labels[i] = int32(i)
		}
		s.refiner.set(labels, nil)
		_, err := s.refiner.joiner.run(ctx)
		return err
	case "kmeans":
		k, err := s.clusters(ctx)
		if err != nil {
			return err
		}
		r, err := cluster.KMeans(ctx, s.f.y, s.f.n, s.f.d, cluster.KMeansOptions{K: k, Restarts: 1, Seed: s.o.Seed})
		if err != nil {
			return err
		}
		labels = r.Labels
	default: // gaec, klj
		if err := s.f.fits(matrix); err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		// No factor changes the clustering: none of these is beyond float32.
		g := s.f.matrix(s.f.zoom * s.f.zoom / s.f.scale / (s.f.t + float64(4*s.f.most)))
		r, err := multicut.GAEC(ctx, g)
		if err == nil && name == "klj" {
			r, err = multicut.KernighanLin(ctx, g, r.Labels, multicut.KLOptions{})
		}
		if err != nil {
			return err
		}
		labels = r.Labels
	}
	s.refiner.set(labels, nil)
	return nil
}

// clusters returns the K of the start kmeans.
func (s *solver) clusters(ctx context.Context) (int, error) {
	if s.o.K > 0 {
		return s.o.K, nil
	}
	s.refiner.set(make([]int32, s.f.n), nil)
	if err := s.refine(ctx, "one"); err != nil {
		return 0, err
	}
	return s.refiner.s.pack(), nil
}

// kicks changes the best clustering by chance and refines it again, as iterated local
// search does.
func (s *solver) kicks(ctx context.Context) error {
	count := s.o.Kicks
	if count == 0 {
		_, sizes := number(s.best)
		count = int(min(kicks, kickWork/(float64(s.f.n)*float64(s.f.d)*float64(len(sizes)+50))))
		if s.f.n <= few {
			count = fewKicks
		}
	}
	for kick := range count {
		random := rng.New(s.o.Seed, "cluster/multicut/kick", uint64(kick))
		labels, k := s.dissolve(random)
		if s.f.n <= few && kick%2 == 1 {
			for i := range labels {
				if random.Float64() < 0.3 {
					labels[i] = int32(random.IntN(k + 1))
				}
			}
		}
		s.refiner.set(labels, s.best)
		if _, err := s.refiner.joiner.run(ctx); err != nil {
			return err
		}
		if err := s.consider(ctx, fmt.Sprintf("kick %d", kick+1)); err != nil {
			return err
		}
	}
	return nil
}

// dissolve returns the best labels with most nodes of about half of the clusters
// alone, and the number of clusters before.
func (s *solver) dissolve(random *rng.Stream) (labels []int32, k int) {
	labels, sizes := number(s.best)
	k = len(sizes)
	dissolved := make([]bool, k)
	for c := range dissolved {
		dissolved[c] = random.Float64() < 0.5
	}
	alone := int32(k)
	for i, l := range labels {
		if dissolved[l] && random.Float64() < 0.7 {
			labels[i] = alone
			alone++
		}
	}
	return labels, k
}
