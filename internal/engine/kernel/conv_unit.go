package kernel

import "tercet/internal/par"

// units are the shares of a batch that tiles of a weight gradient sum over: bands
// of an image's output rows, in place, or several small images, laid beside each
// other pixel by pixel. Of a row of inputs there those columns come first that
// lie at multiples of the stride, then those one further, and so on: what a tap
// sees along an output row is one run.
type units struct {
	images  int // of a unit
	bands   int // of an image
	rows    int // output rows of a band
	count   int
	xStep   int // from one pixel to the next
	dyStep  int
	x, dy   []float32
	packing unitPack
}

// unitView is a unit as tiles read it: output rows [y0, y1), where x and dy begin
// with row 0; row and step are strides, of x along what one tap sees.
type unitView struct {
	images, y0, y1 int
	packed         bool
	x, dy          []float32
	xStep, xRow    int
	dyStep, dyRow  int
}

const (
	// unitOutputs is the number of steps that repay loading and storing a tile.
	unitOutputs = 256
	// unitLimit bounds a band's inputs and outputs of a panel, in numbers.
	unitLimit = 1 << 16
)

func (u *units) split(g *Conv, n, oh, ow int, few bool) {
	u.images, u.bands, u.rows = 1, 1, oh
	u.xStep, u.dyStep = g.StrideW*g.C, g.OutC
	if !few && oh*ow <= unitOutputs/4 {
		u.images = min(n, ceilDiv(unitOutputs, oh*ow))
	}
	if u.images > 1 {
		u.xStep, u.dyStep = spread(g.C), spread(g.OutC)
		u.count = ceilDiv(n, u.images)
		return
	}
	u.rows = max(1, unitLimit/(g.StrideH*g.W*g.C+ow*32), ceilDiv(unitOutputs, ow))
	u.bands = ceilDiv(oh, u.rows)
	u.rows = ceilDiv(oh, u.bands)
	u.bands = ceilDiv(oh, u.rows)
	u.count = n * u.bands
}

// spread returns a distance of n numbers that does not put many of them into the
// same few sets of a cache.
func spread(n int) int {
	if n%256 == 0 {
		return n + 16
	}
	return n
}

// at returns unit i.
func (u *units) at(j *weightJob, i int) unitView {
	g := &j.g
	if u.images > 1 {
		first := i * u.images
		v := unitView{images: min(u.images, j.n-first), packed: true, y1: j.oh, xStep: u.xStep, dyStep: u.dyStep}
		v.xRow, v.dyRow = g.W*v.images*v.xStep, j.ow*v.images*v.dyStep
		v.x = u.x[first*g.H*g.W*u.xStep:][:g.H*v.xRow]
		v.dy = u.dy[first*j.oh*j.ow*u.dyStep:][:j.oh*v.dyRow]
		return v
	}
	image, y0 := i/u.bands, i%u.bands*u.rows
	v := unitView{
		images: 1, y0: y0, y1: min(y0+u.rows, j.oh),
		xStep: u.xStep, xRow: g.W * g.C, dyStep: u.dyStep, dyRow: j.ow * g.OutC,
	}
	v.x = j.x[image*g.H*v.xRow:][:g.H*v.xRow]
	v.dy = j.dy[image*j.oh*v.dyRow:][:j.oh*v.dyRow]
	return v
}

// outputs returns the range of a unit's outputs in dy.
func (u *units) outputs(j *weightJob, i int) (from, to int) {
	if u.images > 1 {
		return i * u.images * j.oh * j.ow, min((i+1)*u.images, j.n) * j.oh * j.ow
	}
	image, y0 := i/u.bands, i%u.bands*u.rows
	from = image * j.oh
	return (from + y0) * j.ow, (from + min(y0+u.rows, j.oh)) * j.ow
}

// fetch reads the lines of unit i: a tile asks for few of them at a time, and memory is slow.
func (u *units) fetch(j *weightJob, i int) {
	g, v := &j.g, u.at(j, i)
	y0, y1 := max(0, v.y0*g.StrideH-g.PadH), min(g.H, (v.y1-1)*g.StrideH-g.PadH+g.KH)
	readLines(1, (y1-y0)*v.xRow, v.x[y0*v.xRow:], 0)
	readLines(1, (v.y1-v.y0)*v.dyRow, v.dy[v.y0*v.dyRow:], 0)
}

// column returns where in a row of x that is which kernel column kx sees from
// output column ox.
func (v *unitView) column(g *Conv, ox, kx int) int {
	ix := ox*g.StrideW + kx - g.PadW
	if !v.packed {
		return ix * g.C
	}
	return g.sorted(ix) * v.images * v.xStep
}

// sorted returns where column ix of an input row lies when the columns are sorted
// by their remainder.
func (g *Conv) sorted(ix int) int {
	rest := ix % g.StrideW
	before := 0
	for r := range rest {
		before += ceilDiv(g.W-r, g.StrideW)
	}
	return before + ix/g.StrideW
}

// pack lays the images of all units beside each other.
func (u *units) pack(j *weightJob) {
	g := &j.g
	grow(&u.x, j.n*g.H*g.W*u.xStep)
	grow(&u.dy, j.n*j.oh*j.ow*u.dyStep)
	u.packing.j = j
	par.Do(u.count, 1, &u.packing)
	u.packing.j = nil
}

// unitPack is the par.Runner of the copies.
type unitPack struct{ j *weightJob }

// Run copies units [lo, hi).
func (p *unitPack) Run(lo, hi int) {
	j, g := p.j, &p.j.g
	for i := lo; i < hi; i++ {
		v := j.unit.at(j, i)
		first := i * j.unit.images
		for m := range v.images {
			from := j.x[(first+m)*g.H*g.W*g.C:]
			for y := range g.H {
				for x := range g.W {
					to := v.x[y*v.xRow+(g.sorted(x)*v.images+m)*v.xStep:]
					copy(to[:g.C], from[(y*g.W+x)*g.C:])
				}
			}
			from = j.dy[(first+m)*j.oh*j.ow*g.OutC:]
			for o := range j.oh * j.ow {
				copy(v.dy[(o*v.images+m)*v.dyStep:][:g.OutC], from[o*g.OutC:])
			}
		}
	}
}
