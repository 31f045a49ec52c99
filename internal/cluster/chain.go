package cluster

import (
	"context"
	"fmt"
	"math"

	"tercet/internal/progress"
)

// linkage is a set of clusters, each in a slot, with distances that are reducible:
// a merged cluster is no nearer to a third one than the nearer of its parts.
type linkage interface {
	// nearest returns the slot nearest to i, and its distance; of equals it prefers the
	// given one, then the lowest.
	nearest(i, prefer int32) (j int32, distance float64)
	// merge puts the cluster of slot a into slot b, which is lower.
	merge(a, b int32)
	// row is one of the rows of slot i.
	row(i int32) int32
	// first is the lowest slot in use.
	first() int32
	// compact gives the slots in use the numbers 0, 1, ... in their order, once enough
	// are free, and returns the new number of each (negative where free), or nil.
	compact() []int32
}

// tree is what has been merged so far.
type tree struct {
	n     int
	joins []join
	// height is that of the cluster that a row is in: rounding must not put a merge
	// below those of its parts.
	height []float64
	told   progress.Count
}

func newTree(n int, told progress.Count) *tree {
	return &tree{n: n, joins: make([]join, 0, n-1), height: make([]float64, n), told: told}
}

// join notes the merge of the clusters of two rows, of which that of b stays.
func (t *tree) join(a, b int32, distance float64) {
	h := max(distance, t.height[a], t.height[b])
	t.joins = append(t.joins, join{a: a, b: b, distance: h})
	t.height[b] = h
}

// look reports progress and whether to stop.
func (t *tree) look(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("agglomerative clustering stopped after %d of %d merges: %w", len(t.joins), t.n-1, err)
	}
	t.told.Tell(len(t.joins), t.n-1)
	return nil
}

// chain merges all clusters that are left by following nearest neighbors until two are
// each other's: as distances are reducible, that merge belongs to the tree whatever is
// merged before it (Murtagh 1983; Müllner 2011, section 2.4.1).
func (t *tree) chain(ctx context.Context, l linkage) error {
	var stack []int32
	var far []float64 // distance from each of the stack to the next
	for len(t.joins) < t.n-1 {
		if len(t.joins)%256 == 0 {
			if err := t.look(ctx); err != nil {
				return err
			}
		}
		if len(stack) == 0 {
			stack = append(stack, l.first())
		}
		for {
			top := stack[len(stack)-1]
			prefer, limit := int32(-1), math.Inf(1)
			if len(stack) > 1 {
				prefer, limit = stack[len(stack)-2], far[len(stack)-2]
			}
			j, distance := l.nearest(top, prefer)
			// Only a smaller distance continues, so that equal ones cannot make a circle.
			if j != prefer && distance < limit {
				stack, far = append(stack, j), append(far[:len(stack)-1], distance)
				continue
			}
			a, b := max(top, prefer), min(top, prefer)
			t.join(l.row(a), l.row(b), limit)
			stack = stack[:len(stack)-2]
			l.merge(a, b)
			break
		}
		if to := l.compact(); to != nil {
			for i, s := range stack {
				stack[i] = to[s]
			}
		}
	}
	return t.look(ctx)
}
