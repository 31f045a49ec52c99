package clustering

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/cluster/solve"
	"tercet/internal/data/npy"
	"tercet/internal/record"
	"tercet/internal/run/tinytest"
)

// What comes after the clusters may be interrupted: they stay, with a word of what is
// missing.
func TestInterruptedAfterTheClusters(t *testing.T) {
	stopped := errors.New("enough")
	for _, tc := range []struct {
		stage, solver      string
		bound, means, map_ bool
	}{
		{"lower bound", "auto", false, false, false},
		{"k-means, to compare", "auto", true, false, false},
		{"t-SNE", "auto", true, true, false},
		{"no such stage", "auto", true, true, true},
	} {
		v := groups(150, 4, 6, .5)
		o := multicutOptions(1.2)
		o.Multicut.Solver = tc.solver
		o.Maps = record.MapOptions{Kind: "tsne", Perplexity: 10, Iterations: 260, Theta: .5}
		ctx, cancel := context.WithCancelCause(context.Background())
		say := func(stage string, _, _ int) {
			if stage == tc.stage {
				cancel(stopped)
			}
		}
		c, err := (&solve.Job{Items: v, Options: o, Say: say}).Run(ctx, record.Source{Items: v.N, Dim: v.D})
		if err != nil {
			t.Fatalf("%s: %v", tc.stage, err)
		}
		doc := c.Doc
		if len(doc.Labels) != v.N || doc.Objective == nil || doc.Clustering == nil {
			t.Errorf("%s: %d labels", tc.stage, len(doc.Labels))
		}
		if (doc.LowerBound != nil) != tc.bound || (doc.Multicut.Bound != nil) != tc.bound || (doc.Multicut.Comparison.KMeans != nil) != tc.means || (doc.Maps != nil) != tc.map_ {
			t.Errorf("%s: bound %v, comparison %+v, maps %v", tc.stage, doc.LowerBound, doc.Multicut.Comparison, doc.Maps)
		}
		if whole := tc.map_; errors.Is(c.Stopped, stopped) == whole || strings.Contains(strings.Join(doc.Warnings, ""), "interrupted when the clusters were found") == whole {
			t.Errorf("%s: %v, %q", tc.stage, c.Stopped, doc.Warnings)
		}
	}
}

// The best clusters of an interrupted exact solver are a result.
func TestInterruptedExactSolver(t *testing.T) {
	v := groups(40, 4, 3, .8)
	o := multicutOptions(1.1)
	o.Multicut.Solver = "exact"
	ctx, cancel := context.WithCancel(context.Background())
	notes := 0
	say := func(stage string, _, _ int) {
		if _, note, ok := strings.Cut(stage, "\t"); ok {
			if notes++; !strings.Contains(note, "best -") || !strings.Contains(note, "bound -") || !strings.Contains(note, "gap ") {
				t.Errorf("progress %q", note)
			}
			if notes == 2 {
				cancel()
			}
		}
	}
	c, err := (&solve.Job{Items: v, Options: o, Say: say}).Run(ctx, record.Source{Items: v.N, Dim: v.D})
	if err != nil {
		t.Fatal(err)
	}
	doc := c.Doc
	if c.Stopped == nil || doc.Multicut.Solver.Proven || doc.Multicut.Bound.Method != "unfinished branch and bound" || *doc.LowerBound >= *doc.Objective ||
		!strings.Contains(strings.Join(doc.Warnings, ""), "the exact solver was interrupted: these are the best clusters that it had found") {
		t.Errorf("%v: %+v, bound %+v, %v to %v, %q", c.Stopped, doc.Multicut.Solver, doc.Multicut.Bound, *doc.LowerBound, *doc.Objective, doc.Warnings)
	}
}

// The bound of a sparse graph that is chosen ends after a while, and says so; one that
// is asked for does not.
func TestQuickBound(t *testing.T) {
	v := groups(300, 5, 6, .8)
	for _, bound := range []string{"auto", "cycle"} {
		o := multicutOptions(1.1)
		o.Multicut.Neighbors, o.Multicut.Random, o.Multicut.Bound = 20, 20, bound
		rec := clusterOf(t, v, o).Doc.Multicut
		if rec.Bound.Method != "cycle packing" || rec.Bound.Ended {
			t.Errorf("%s: %+v", bound, rec.Bound)
		}
	}
	path := filepath.Join(t.TempDir(), "is a folder")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Graph(context.Background(), path, npy.LabelFile{}, record.ClusterOptions{}, nil, tinytest.Quiet); err == nil || !strings.Contains(err.Error(), "is a folder; give a regular file") {
		t.Errorf("a folder: %v", err)
	}
}
