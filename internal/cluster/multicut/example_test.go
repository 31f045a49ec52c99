package multicut_test

import (
	"context"
	"fmt"

	"tercet/internal/cluster/multicut"
)

// Nodes 0, 1 and 2 attract each other. Node 2 repels node 3 more than node 1
// attracts it.
// No number of clusters is given.
func ExampleKernighanLin() {
	g, err := multicut.NewGraph(4, []multicut.Edge{
		{I: 0, J: 1, Cost: 2}, {I: 1, J: 2, Cost: 2}, {I: 0, J: 2, Cost: 1},
		{I: 1, J: 3, Cost: 0.5}, {I: 2, J: 3, Cost: -2},
	})
	if err != nil {
		panic(err)
	}
	start, err := multicut.GAEC(context.Background(), g)
	if err != nil {
		panic(err)
	}
	r, err := multicut.KernighanLin(context.Background(), g, start.Labels, multicut.KLOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println("labels", r.Labels, "objective", r.Objective)
	// Output: labels [0 0 0 1] objective -1.5
}
