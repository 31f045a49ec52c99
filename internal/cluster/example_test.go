package cluster_test

import (
	"context"
	"fmt"

	"tercet/internal/cluster"
)

// Two groups of points on a line.
func ExampleKMeans() {
	x := []float32{0, 1, 2, 10, 11, 12} // n = 6 rows of d = 1
	r, err := cluster.KMeans(context.Background(), x, 6, 1, cluster.KMeansOptions{K: 2})
	if err != nil {
		panic(err)
	}
	same := r.Labels[0] == r.Labels[1] && r.Labels[1] == r.Labels[2] && r.Labels[0] != r.Labels[3]
	fmt.Println("sizes", r.Sizes, "inertia", r.Inertia, "groups found:", same)
	// Output: sizes [3 3] inertia 4 groups found: true
}
