package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func (k *winogradKind) maps() []*winogradMap {
	maps := []*winogradMap{k.input, k.weights, k.output, k.gather}
	for _, h := range k.halves {
		maps = append(maps, h.input, h.spread)
	}
	return maps
}

func (r winogradRole) String() string {
	return [...]string{"input", "weights", "output", "spread", "gather"}[r]
}

// mapCase is one call of a map on pixels that end where nothing may be touched.
// Between pixels there is room for whole vectors, and a gap.
type mapCase struct {
	m        *winogradMap
	n        int
	src, dst []float32
	row, col int // of src
	drow     int
	bias     []float32
}

// scratch tells that the kernels may read or write whole vectors at a pointer.
func (c *mapCase) scratch(src bool) bool {
	switch c.m.role {
	case winogradOutput, winogradGather:
		return src
	}
	return !src
}

func newMapCase(t *testing.T, m *winogradMap, n int) *mapCase {
	c := &mapCase{m: m, n: n, col: roundUp(n, 16) + 3, bias: random(9, roundUp(n, 16))}
	c.row, c.drow = 8*c.col, 8*c.col+1
	pixels := func(size, row int, src bool) []float32 {
		lanes := n
		if c.scratch(src) {
			lanes = roundUp(n, 16)
		}
		return fenced(t, (size-1)*(row+c.col)+lanes)
	}
	c.src, c.dst = pixels(m.from, c.row, true), pixels(m.to, c.drow, false)
	copy(c.src, random(10, len(c.src)))
	return c
}

// run computes the map at a level into dst, which holds old, and returns a copy:
// pixel (i, j) is no part of the image where outside says so.
func (c *mapCase) run(l Level, outside func(i, j int) bool, floor float32, old []float32) []float32 {
	zeros := make([]float32, roundUp(c.n, 16))
	substitute := l.outside(c.src, zeros)
	if c.m.role == winogradOutput {
		substitute = l.outside(c.dst, zeros)
	}
	var at winogradTable
	if c.m.role == winogradOutput {
		at.fill(c.m.to, c.drow, c.col)
	} else {
		at.fill(c.m.from, c.row, c.col)
	}
	size := c.m.from
	if c.m.role == winogradOutput {
		size = c.m.to
	}
	for i := range size {
		for j := range size {
			if outside(i, j) {
				at[i*size+j] = substitute
			}
		}
	}
	copy(c.dst, old)
	switch c.m.role {
	case winogradOutput:
		l.winogradFinish(c.m, c.n, c.src, c.row, c.col, c.dst, &at, 64, c.bias, floor, new(winogradRoom))
	case winogradGather:
		l.winogradGather(c.m, c.n, c.src, c.row, c.col, c.dst, c.drow, c.col, 64, new(winogradRoom))
	default:
		l.winogradMap(c.m, c.n, c.src, &at, c.dst, c.drow, c.col, 64, new(winogradRoom))
	}
	return append([]float32(nil), c.dst...)
}

// want computes element (i, j) of lane l in float64, with the sum of magnitudes.
func (c *mapCase) want(i, j, l int, outside func(i, j int) bool) (v, size float64) {
	for p := range c.m.from {
		for q := range c.m.from {
			if c.m.role != winogradOutput && outside(p, q) {
				continue
			}
			x := float64(c.m.by[i][p]) * float64(c.m.by[j][q]) * float64(c.src[p*c.row+q*c.col+l])
			v, size = v+x, size+math.Abs(x)
		}
	}
	return v, size
}

// TestWinogradMaps compares every map of every level with its matrix: all lanes,
// and nothing beside them.
func TestWinogradMaps(t *testing.T) {
	inside := func(int, int) bool { return false }
	corner := func(i, j int) bool { return i == 0 || j == 1 }
	for k := range winogradKinds {
		for _, m := range winogradKinds[k].maps() {
			for _, n := range []int{1, 3, 4, 7, 8, 9, 15, 16, 17, 33} {
				c := newMapCase(t, m, n)
				for _, l := range Levels() {
					for what, outside := range map[string]func(int, int) bool{"inside": inside, "corner": corner} {
						if m.role == winogradGather && what == "corner" {
							continue
						}
						t.Run(fmt.Sprintf("%v %d from %d/%d lanes/%v/%s", m.role, m.to, m.from, n, l, what), func(t *testing.T) {
							c.check(t, l, outside)
						})
					}
				}
			}
		}
	}
}

func (c *mapCase) check(t *testing.T, l Level, outside func(i, j int) bool) {
	floor := float32(-0.5)
	old := random(11, len(c.dst))
	got := c.run(l, outside, floor, old)
	vector := map[Level]int{Generic: 4, AVX2: 8, AVX512: 16, AMX: 16}[l]
	written := make([]bool, len(got))
	for _, i := range c.m.rows {
		for j := range c.m.to {
			at := i*c.drow + j*c.col
			if c.m.role == winogradOutput && outside(i, j) {
				continue
			}
			for lane := range c.n {
				v, size := c.want(i, j, lane, outside)
				switch c.m.role {
				case winogradOutput:
					v, size = max(float64(floor), v+float64(c.bias[lane])), size+math.Abs(float64(c.bias[lane]))
				case winogradGather:
					v, size = v+float64(old[at+lane]), size+math.Abs(float64(old[at+lane]))
				}
				if e := math.Abs(float64(got[at+lane]) - v); !(e <= 40.0/(1<<24)*size) {
					t.Fatalf("(%d, %d) lane %d: %g, want %g", i, j, lane, got[at+lane], v)
				}
				written[at+lane] = true
			}
		}
	}
	if !c.scratch(false) {
		for i, v := range got {
			if !written[i] && v != old[i] {
				t.Fatalf("wrote %g at %d", v, i)
			}
		}
		return
	}
	// The last pixel is followed by no other: its padding is zero.
	last := c.m.rows[len(c.m.rows)-1]*c.drow + (c.m.to-1)*c.col + c.n
	for i := c.n; i < roundUp(c.n, vector); i++ {
		if v := got[last+i-c.n]; v != 0 {
			t.Fatalf("lane %d of %d is filled with %g", i, c.n, v)
		}
	}
}

// TestWinogradHalves: the halves of an input map write all rows of the whole map once, with
// its bits.
func TestWinogradHalves(t *testing.T) {
	none := func(int, int) bool { return false }
	for k := range winogradKinds {
		kind := &winogradKinds[k]
		if a, b := kind.halves[0].positions, kind.halves[1].positions; len(a) != len(b) || len(a)+len(b) != kind.positions() {
			t.Errorf("kind %d: %d and %d positions of %d", k, len(a), len(b), kind.positions())
		}
		for _, l := range Levels() {
			c := newMapCase(t, kind.input, 33)
			unset := make([]float32, len(c.dst))
			for i := range unset {
				unset[i] = -1e30
			}
			whole, both := c.run(l, none, 0, unset), unset
			for h, half := range kind.halves {
				part := *c
				part.m = half.input
				both = part.run(l, none, 0, both)
				for i := range c.m.to {
					if written := both[i*c.drow] != -1e30; h == 0 && written != slices.Contains(half.input.rows, i) {
						t.Errorf("kind %d, %v: the first half writes row %d: %v", k, l, i, written)
					}
				}
			}
			for i, v := range whole {
				if math.Float32bits(v) != math.Float32bits(both[i]) {
					t.Fatalf("kind %d, %v: number %d is %g, by halves %g", k, l, i, v, both[i])
				}
			}
		}
	}
}

// TestWinogradLanes: a lane's bits do not depend on its place among the lanes.
func TestWinogradLanes(t *testing.T) {
	const lanes = 40
	none := func(int, int) bool { return false }
	for k := range winogradKinds {
		for _, m := range winogradKinds[k].maps() {
			for _, l := range Levels() {
				all := newMapCase(t, m, lanes)
				whole := all.run(l, none, 0, make([]float32, len(all.dst)))
				for n := 1; n < lanes; n += 5 {
					from := lanes - n
					part := *all
					part.n = n
					part.src = append(append([]float32(nil), all.src[from:]...), make([]float32, 64)...)
					part.bias = append(append([]float32(nil), all.bias[from:]...), make([]float32, 64)...)
					part.dst = make([]float32, len(all.dst)+64)
					got := part.run(l, none, 0, make([]float32, len(part.dst)))
					for i := range m.to * m.to * n {
						at := i/n/m.to*all.drow + i/n%m.to*all.col + i%n
						if a, b := got[at], whole[at+from]; math.Float32bits(a) != math.Float32bits(b) {
							t.Fatalf("%v %d from %d, %v: lane %d of %d is %g, in the whole %g", m.role, m.to, m.from, l, i%n, n, a, b)
						}
					}
				}
			}
		}
	}
}
