package loss_test

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
)

// A triplet whose negative is only 0.1 farther than its positive costs the rest of the
// margin, and its gradient moves the three embeddings.
func ExampleNewTriplet() {
	o := loss.TripletDefaults()
	o.Eps = 0
	l, err := loss.NewTriplet(o)
	if err != nil {
		panic(err)
	}
	z := array.New(3, 1) // (B, D) embeddings: anchor 0, positive 1, negative -1.1
	copy(z.Data, []float32{0, 1, -1.1})
	grad := array.New(3, 1)
	res, err := l.Eval(z, &loss.Tuples{Triplets: []loss.Triplet{{A: 0, P: 1, N: 2}}}, grad)
	if err != nil {
		panic(err)
	}
	fmt.Printf("loss %.2f, %d of %d active, gradient %.0f\n", res.Loss, res.Active, res.Tuples, grad.Data)
	// Output: loss 0.10, 1 of 1 active, gradient [-2 1 1]
}
