package tsne_test

import (
	"context"
	"fmt"

	"tercet/internal/cluster/tsne"
)

// Two groups of points in 3 dimensions stay two groups on the map: in it, too, the
// nearest other point of each point is of its group.
func ExampleRun() {
	const n, d = 20, 3
	x := make([]float32, n*d)
	for i := range n {
		x[i*d] = float32(i/10) * 100 // the group
		x[i*d+1] = float32(i % 10)
	}
	r, err := tsne.Run(context.Background(), x, n, d, tsne.Options{Perplexity: 5, Iterations: 500})
	if err != nil {
		panic(err)
	}
	stayed := 0
	for i := range n {
		near, least := 0, float32(0)
		for j := range n {
			dx, dy := r.Y[2*i]-r.Y[2*j], r.Y[2*i+1]-r.Y[2*j+1]
			if s := dx*dx + dy*dy; j != i && (least == 0 || s < least) {
				near, least = j, s
			}
		}
		if near/10 == i/10 {
			stayed++
		}
	}
	fmt.Println(stayed, "of", n)
	// Output: 20 of 20
}
