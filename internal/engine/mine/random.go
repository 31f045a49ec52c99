package mine

import (
	"tercet/internal/component"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "random", Doc: "any negative", Defaults: RandomKeys{}})
}

// RandomKeys are the keys of random: none.
type RandomKeys struct{}

func (RandomKeys) make(o Options) Miner { return newByAnchor(o, false, pickRandom) }

// pickRandom: the negative is uniform over the rows of another label.
func pickRandom(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	neg, fell = b.anyNegative(a, r)
	return p, neg, fell
}
