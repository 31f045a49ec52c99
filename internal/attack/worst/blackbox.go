package worst

import (
	"math"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// nearestPixels finds, for all queries that survive, the wrong images of the gallery that
// are nearest in pixels. The gallery is read block by block.
func (r *runner) nearestPixels(survivors []int) error {
	r.pixels = map[int][]int{}
	size := len(r.all.x.Data) / r.all.x.Rows()
	group := max(1, min(len(survivors), pixelGroup/size))
	for lo := 0; lo < len(survivors); lo += group {
		if err := r.pixelsOf(survivors[lo:min(lo+group, len(survivors))], size); err != nil {
			return err
		}
	}
	return nil
}

// pixelGroup bounds the pixels of the queries that are compared with the gallery together,
// pixelBlock those of the gallery's images.
const (
	pixelGroup = 1 << 25
	pixelBlock = 1 << 21
)

// pixelsOf is nearestPixels of some queries with images of size pixels.
func (r *runner) pixelsOf(places []int, size int) error {
	x := array.New(len(places), size)
	for i, p := range places {
		if err := r.images.Read(r.items[p], x.Row(i)); err != nil {
			return r.about([]int{r.items[p]}, err)
		}
	}
	found := make([][]pixelNeighbor, len(places))
	block := max(1, pixelBlock/size)
	y, dots := array.New(block, size), []float32(nil)
	for lo := 0; lo < r.gallery.Len(); lo += block {
		hi := min(lo+block, r.gallery.Len())
		if err := r.ctx.Err(); err != nil {
			return err
		}
		y.SetRows(hi - lo)
		squares := make([]float64, hi-lo)
		for j := range squares {
			image := int(r.gallery.Image(int32(lo + j)))
			if err := r.images.Read(image, y.Row(j)); err != nil {
				return r.about([]int{image}, err)
			}
			squares[j] = kernel.SumSquares(y.Row(j))
		}
		dots = append(dots[:0], make([]float32, len(places)*(hi-lo))...)
		kernel.Pack(true, size, hi-lo, y.Data, size).Gemm(len(places), 1, x.Data, size, 0, dots, hi-lo)
		par.Each(len(places), 1, func(i int) {
			found[i] = r.nearerPixels(found[i], r.items[places[i]], lo, squares, dots[i*(hi-lo):(i+1)*(hi-lo)])
		})
	}
	for i, p := range places {
		for _, n := range found[i] {
			r.pixels[p] = append(r.pixels[p], int(r.gallery.Image(int32(n.row))))
		}
	}
	return nil
}

type pixelNeighbor struct {
	row    int
	square float64 // less the square of the query's length
}

// nearerPixels adds to the nearest rows of a query those of a block that are nearer.
func (r *runner) nearerPixels(list []pixelNeighbor, item, lo int, squares []float64, dots []float32) []pixelNeighbor {
	label, hidden := r.gallery.Label(item), r.gallery.Hidden(item)
	for j, v := range dots {
		row := lo + j
		square := squares[j] - 2*float64(v)
		if r.gallery.Labels[row] == label || len(list) == copied && !(square < list[copied-1].square) {
			continue
		}
		if _, is := slices.BinarySearch(hidden, int32(row)); is {
			continue
		}
		at := len(list)
		for at > 0 && square < list[at-1].square {
			at--
		}
		list = slices.Insert(list, at, pixelNeighbor{row, square})
		list = list[:min(len(list), copied)]
	}
	return list
}

// copies moves queries towards wrong images, as far as the ball allows and parts of that
// way, and tries the gray image where the ball holds it for every image.
func (r *runner) copies(b *batch) error {
	if r.o.Norm == adversary.Linf && r.o.Eps >= 0.5 {
		err := r.try(b, func(_ int, _, out []float32) error {
			for k := range out {
				out[k] = 0.5
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for n := range copied {
		for t := copySteps; t > 0; t-- {
			err := r.try(b, func(i int, x, out []float32) error {
				near := r.pixels[b.places[i]]
				if err := r.images.Read(near[min(n, len(near)-1)], out); err != nil {
					return err
				}
				r.towards(x, out, float64(t)/copySteps)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// transfers tries the images that were kept in the galleries before.
func (r *runner) transfers(b *batch) error {
	for _, s := range r.before {
		err := r.try(b, func(i int, _, out []float32) error {
			copy(out, s.Images.Row(b.places[i]))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// towards replaces out by the point that is the part t of the way from x to where the way
// to out leaves the ball; in the maximum norm each pixel goes as far as it may.
func (r *runner) towards(x, out []float32, t float64) {
	if r.o.Norm == adversary.Linf {
		for k, c := range x {
			out[k] = c + float32(t*max(-r.o.Eps, min(r.o.Eps, float64(out[k])-float64(c))))
		}
		return
	}
	length := math.Sqrt(kernel.SquaredDistanceLanes(x, out))
	if length > r.o.Eps {
		t *= r.o.Eps / length
	}
	for k, c := range x {
		out[k] = float32(float64(c) + float64(t*(float64(out[k])-float64(c))))
	}
}

// noise tries random points: in turn a corner of the ball (in l2, a point of its sphere)
// and a point drawn uniformly from it.
func (r *runner) noise(b *batch) error {
	for draw := range draws {
		err := r.try(b, func(i int, x, out []float32) error {
			var s rng.Stream
			s.Reset(r.o.Seed, "worst.noise", uint64(b.items[i]), uint64(draw))
			r.random(x, out, &s, draw%2 == 0)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// random writes a random point of the ball around x, clipped to [0, 1], to out.
func (r *runner) random(x, out []float32, s *rng.Stream, edge bool) {
	if r.o.Norm == adversary.Linf {
		for k, c := range x {
			d := s.Uniform(-r.o.Eps, r.o.Eps)
			if edge {
				d = math.Copysign(r.o.Eps, d)
			}
			out[k] = min(max(c+float32(d), 0), 1)
		}
		return
	}
	square := 0.0
	for k := range out {
		g := s.NormFloat64()
		out[k] = float32(g)
		square += float64(g * g)
	}
	scale := r.o.Eps / max(math.Sqrt(square), 1e-30)
	if !edge {
		scale *= math.Pow(s.Float64(), 1/float64(len(x)))
	}
	for k, c := range x {
		out[k] = min(max(c+float32(scale*float64(out[k])), 0), 1)
	}
}
