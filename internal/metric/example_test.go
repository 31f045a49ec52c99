package metric_test

import (
	"context"
	"fmt"

	"tercet/internal/metric"
)

// Four points on a line in two classes: the nearest of the third is of another class.
func ExampleRetrieve() {
	x := []float32{0, 1, 2.5, 5} // n = 4 rows of d = 1
	labels := []int32{0, 0, 1, 1}
	r, err := metric.Retrieve(context.Background(), x, 4, 1, labels, metric.RetrievalOptions{K: []int{1, 2}})
	if err != nil {
		panic(err)
	}
	for _, key := range []string{"recall@1", "recall@2", "map@r"} {
		v, _ := r.Scores.Get(key)
		fmt.Printf("%s %.2f (%s)\n", key, v.Value, v.Definition)
	}
	// Output:
	// recall@1 0.75 (recall@1(any))
	// recall@2 0.75 (recall@2(any))
	// map@r 0.75 (map@r(pml))
}
