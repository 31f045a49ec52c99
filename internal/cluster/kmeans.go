package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tercet/internal/engine/pages"
	"tercet/internal/metric"
	"tercet/internal/text"
)

// KMeansOptions sets KMeans. Zero values mean the defaults in brackets, which
// are those of scikit-learn before 1.4.
type KMeansOptions struct {
	K             int     // clusters, 1 to n
	Restarts      int     // independent starts, the best by inertia is kept [10]
	MaxIterations int     // of each start [300]
	Tolerance     float64 // times the mean feature variance: a total squared shift of the centers up to this ends it [1e-4]; negative: only unchanged labels stop
	Seed          uint64
	// Spherical clusters directions (Dhillon and Modha 2001): rows are divided by their
	// lengths and so are centers; the nearest is that of the largest cosine. Rows of
	// zeros are an error. Centers are directions, and Inertia is the sum of squared
	// distances on the sphere, 2 - 2 cos.
	Spherical bool
	// MiniBatch, where positive and below n, is the number of rows that a step draws:
	// see KMeans. Restarts then are 3 and MaxIterations, which counts passes over n
	// rows, 100 where they are 0; Tolerance is not used; Iterations counts steps.
	MiniBatch int
	// Overwrite allows x to be overwritten with centered rows, which saves a copy.
	// MiniBatch makes no copy in any case.
	Overwrite bool
	// Progress, where set, is called after each iteration with the number of
	// starts that have ended; several may run in step.
	Progress func(ended, iteration int)
}

// KMeansResult is the best of the restarts.
type KMeansResult struct {
	Labels     []int32   // n cluster numbers in 0..K-1: each row's nearest center
	Centers    []float32 // (K, d)
	Sizes      []int     // rows of each cluster; 0 only with a warning
	Inertia    float64   // sum of squared distances of rows to their centers
	Iterations int       // of the chosen restart
	Restart    int       // the chosen one, from 0
	Converged  bool      // false where MaxIterations ended it
	Warnings   []string
}

// KMeans clusters the n rows of x, d numbers each, by Lloyd's algorithm from
// greedy k-means++ starts (Arthur and Vassilvitskii 2007), as scikit-learn does:
// data are centered first, 2+floor(ln k) candidates compete for each new center,
// a start ends when labels repeat or the centers shift by no more than the
// tolerance, and a cluster that runs empty takes the row farthest from its
// center. All rows are used, there is no subsampling. Beyond that, the best
// start, and where that costs little the next four, are improved by swaps: a center that
// shares a group with another one goes where two groups share one.
//
// Starts with few centers run in step, so that one product serves all. Nearest
// centers come from it in float32, or, where centers are many and the processor
// multiplies bytes faster, from bounds by rows and centers rounded to bytes; what
// is left within the error bound of the nearest is measured in float64, so that
// labels are those of a float64 computation on the centered float32 rows; equal
// distances go to the lower cluster number. Sums run in float64, row by row. The
// result has the same bits for any number of threads, and for any number of starts in
// step. Memory beyond the arguments is two copies of them, half a copy for the bytes,
// some 10 bytes a row, those of the starts in step (up to 32 bytes a row and 20 a number
// of its centers each; all of them at most 16 MB or half the arguments, but for one),
// and, for the best five starts and their swaps, 1 byte a row (of up to 256 clusters)
// and 8 a number of their centers each.
//
// With MiniBatch, for very many rows, k-means on a sample (of three batches, or 16,384
// rows where there are so many) gives the first centers, and steps of random rows move
// them (Sculley 2010), as in scikit-learn's MiniBatchKMeans; all rows are labeled in
// the end. It needs no copy of x.
//
// Errors: sizes that do not fit, NaN or infinity (by row and column), K outside
// 1..n, a zero row where Spherical, a canceled ctx. Fewer distinct rows than K, and
// starts that did not converge, are warnings.
func KMeans(ctx context.Context, x []float32, n, d int, o KMeansOptions) (*KMeansResult, error) {
	f, err := o.frame(x, n, d)
	if err != nil {
		return nil, err
	}
	if o.MiniBatch > 0 && o.MiniBatch < n {
		return miniBatch(ctx, f, x, n, o)
	}
	return o.best(ctx, o.points(f, x, n))
}

// frame checks data and options.
func (o *KMeansOptions) frame(x []float32, n, d int) (frame, error) {
	if err := metric.CheckMatrix(ErrInput, "rows", x, n, d); err != nil {
		return frame{}, err
	}
	if o.K < 1 || o.K > n {
		return frame{}, fmt.Errorf("%w: k = %d clusters of %d rows: k must be in 1..%d", ErrInput, o.K, n, n)
	}
	if o.Restarts < 0 || o.MaxIterations < 0 || o.MiniBatch < 0 {
		return frame{}, fmt.Errorf("%d restarts of at most %d iterations, batches of %d rows: all must be non-negative", o.Restarts, o.MaxIterations, o.MiniBatch)
	}
	if o.Spherical {
		return unitFrame(x, n, d)
	}
	return frameOf(x, n, d), nil
}

// points are the rows in a frame, and the defaults of full k-means take their places.
func (o *KMeansOptions) points(f frame, x []float32, n int) *points {
	o.Restarts = cmp.Or(o.Restarts, 10)
	o.MaxIterations = cmp.Or(o.MaxIterations, 300)
	o.Tolerance = cmp.Or(o.Tolerance, 1e-4)
	room := x
	if !o.Overwrite {
		room = pages.Make[float32](len(x))
	}
	return newPoints(f.into(room, x, n))
}

func (r *KMeansResult) warn(data *centered, o KMeansOptions) {
	if empty := o.K - used(r.Sizes); empty > 0 {
		if distinct := distinctRows(data); distinct < o.K {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the data have only %s: %s", text.Count(distinct, "distinct row"), emptyClusters(empty, o.K)))
		} else {
			r.Warnings = append(r.Warnings, emptyClusters(empty, o.K))
		}
	}
	if !r.Converged {
		r.Warnings = append(r.Warnings, fmt.Sprintf("not converged after %d iterations: raise the limit or the tolerance", o.MaxIterations))
	}
}

// distinctRows counts the different rows.
func distinctRows(c *centered) int {
	order := make([]int, c.n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(c.row(a), c.row(b)) })
	distinct := 1
	for i := 1; i < c.n; i++ {
		if slices.Compare(c.row(order[i-1]), c.row(order[i])) != 0 {
			distinct++
		}
	}
	return distinct
}

// emptyClusters says how many of k clusters have no rows.
func emptyClusters(empty, k int) string {
	if empty == 1 {
		return fmt.Sprintf("1 of the %d clusters is empty", k)
	}
	return fmt.Sprintf("%d of the %d clusters are empty", empty, k)
}
