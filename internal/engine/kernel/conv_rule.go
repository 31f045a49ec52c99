package kernel

// The rule by which Plan chooses compares what the algorithms cost for one image
// and one pair of channels, in multiply-adds of the direct kernels:
//
//	direct:   the taps that lie in the image
//	Winograd: tiles * positions * (productCost + t*(1/C + 1/OutC))
//
// where the positions of a tile are its transformed numbers: products with the
// transformed images take somewhat more than the direct kernel's multiply-adds,
// and each number of the two images of a product has to be transformed. The
// constants were fitted to the times of 20 layers (channels 3 to 512, maps of 2
// to 56, kernels 3 and 5; fewer of them at level generic) on one thread of a Zen
// 4. They serve other processors, too, so that bits do not depend on the vendor:
// BenchmarkRule shows what that costs. Winograd must promise a tenth less, since its
// results are less exact.
const (
	productCost = 1.2
	promise     = 0.9
)

// transformCost is t for forward convolutions and input gradients, and for
// weight gradients.
var transformCost = [...]struct{ images, weights float64 }{
	Generic: {20, 18},
	AVX2:    {11, 9},
	AVX512:  {8, 7},
	AMX:     {8, 7},
}

// ruledPlan chooses by shape and level alone.
func (g Conv) ruledPlan(l Level) ConvPlan {
	t := transformCost[l]
	oh, ow := g.Out()
	return ConvPlan{
		Conv:    g,
		Fwd:     g.cheapest(oh, ow, t.images),
		Input:   g.cheapest(g.H, g.W, t.images),
		Weights: g.cheapest(oh, ow, t.weights),
	}
}

// cheapest chooses for tiles that cover h x w pixels.
func (g Conv) cheapest(h, w int, t float64) Algorithm {
	best, least := Direct, promise*float64(g.tapsInside())
	perNumber := productCost + float64(t*(1/float64(g.C)+1/float64(g.OutC)))
	for _, a := range []Algorithm{Winograd2, Winograd4} {
		k := g.winogradKindOf(a)
		if k == nil {
			continue
		}
		if cost := float64(k.numbers(h, w)) * perNumber; cost < least {
			best, least = a, cost
		}
	}
	return best
}

// numbers counts those of the transformed tiles that cover h x w pixels, of one
// channel: the multiplications for each pair of channels.
func (k *winogradKind) numbers(h, w int) int {
	return ceilDiv(h, k.m) * ceilDiv(w, k.m) * k.positions()
}

// Multiplications counts the multiply-adds that a needs for the outputs of one
// image: Direct those with the image, not with padding (some of which the kernels
// do all the same), the others those of their tiles, without the transforms. An
// algorithm that cannot compute g counts as Direct.
func (g Conv) Multiplications(a Algorithm) int64 {
	oh, ow := g.Out()
	pairs := int64(g.C) * int64(g.OutC)
	if k := g.winogradKindOf(a); k != nil {
		return pairs * int64(k.numbers(oh, ow))
	}
	return pairs * int64(g.tapsInside())
}

// tapsInside counts the taps of all outputs of an image that are no padding.
func (g Conv) tapsInside() int {
	oh, ow := g.Out()
	y, x := 0, 0
	for k := range g.KH {
		from, to := sees(oh, k, g.StrideH, g.PadH, g.H)
		y += max(0, to-from)
	}
	for k := range g.KW {
		from, to := sees(ow, k, g.StrideW, g.PadW, g.W)
		x += max(0, to-from)
	}
	return y * x
}
