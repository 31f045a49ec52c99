package mine

import (
	"tercet/internal/component"
	"tercet/internal/rng"
)

func init() {
	Family.Register(component.Component[Keys]{Name: "semihard", Doc: "negatives farther than the positive, within the margin", Defaults: SemihardKeys{}})
}

// SemihardKeys are the keys of semihard.
type SemihardKeys struct {
	Margin *float64 `yaml:"margin" check:">0" doc:"width of the band in the loss's distance; null takes the loss's margin: margin of triplet, alpha of triplet-capped, alpha - beta of triplet-threshold, so that all negatives of the band count"`
}

// Set implements Setter.
func (k SemihardKeys) Set(o *Options) {
	if k.Margin != nil {
		o.Margin = *k.Margin
	}
}

func (SemihardKeys) make(o Options) Miner { return newByAnchor(o, true, pickSemihard) }

// pickSemihard: the negative is uniform over { n : d_ap < d_an < d_ap + margin }
// (Schroff et al., FaceNet, section 3.2, there on squared distances; here drawn,
// as robrank does), else over all negatives.
func pickSemihard(b *batch, a, p int, r *rng.Stream) (pos, neg int, fell bool) {
	ap := b.gap(a, p)
	b.set = b.set[:0]
	for j := range b.rows {
		if b.other(a, j) && b.gapTo(j, ap) > 0 && b.gapTo(j, ap+b.o.Margin) < 0 {
			b.set = append(b.set, j)
		}
	}
	if n := b.drawn(r); n >= 0 {
		return p, n, false
	}
	neg, _ = b.anyNegative(a, r)
	return p, neg, true
}
