package cluster

import (
	"context"
	"fmt"
	"math"
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

// chain merges all clusters by following nearest neighbours until two are each
// other's: as distances are reducible, that merge belongs to the tree whatever is
// merged before it (Murtagh 1983; Müllner 2011, section 2.4.1).
func chain(ctx context.Context, l linkage, n int, progress func(merged, total int)) ([]join, error) {
	joins := make([]join, 0, n-1)
	var stack []int32
	var far []float64 // distance from each of the stack to the next
	// height is that of the cluster that a row is in: rounding must not put a merge
	// below those of its parts.
	height := make([]float64, n)
	for len(joins) < n-1 {
		if len(joins)%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("agglomerative clustering stopped after %d of %d merges: %w", len(joins), n-1, err)
			}
			if progress != nil {
				progress(len(joins), n-1)
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
			// Only a smaller distance goes on, so that equal ones cannot make a circle.
			if j != prefer && distance < limit {
				stack, far = append(stack, j), append(far[:len(stack)-1], distance)
				continue
			}
			a, b := max(top, prefer), min(top, prefer)
			ra, rb := l.row(a), l.row(b)
			h := max(limit, height[ra], height[rb])
			joins = append(joins, join{a: ra, b: rb, distance: h})
			stack = stack[:len(stack)-2]
			l.merge(a, b)
			height[l.row(b)] = h
			break
		}
		if to := l.compact(); to != nil {
			for i, s := range stack {
				stack[i] = to[s]
			}
		}
	}
	if progress != nil {
		progress(n-1, n-1)
	}
	return joins, nil
}
