package mine_test

import (
	"fmt"

	"tercet/internal/engine/array"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/rng"
)

// The semihard miner takes a negative that is farther than the positive, but by less
// than the margin: here row 3, not row 2 (nearer) or row 4 (beyond the margin).
func ExampleNew() {
	o := mine.Defaults()
	o.Layout = mine.General
	m, err := mine.New("semihard", o)
	if err != nil {
		panic(err)
	}
	z := array.New(5, 1) // (B, D)
	copy(z.Data, []float32{0, 1, -0.5, -1.1, 2})
	var found loss.Tuples
	if _, err := m.Mine(z, []int32{7, 7, 1, 2, 3}, rng.New(0, "miner"), &found); err != nil {
		panic(err)
	}
	fmt.Println(found.Triplets[0])
	// Output: {0 1 3}
}
