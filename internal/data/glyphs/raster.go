package glyphs

const (
	fine     = 256 // raster units per pixel
	sublines = 8   // samples per pixel in y; in x coverage is exact
	step     = fine / sublines
	full     = sublines * fine // accumulated value of a covered pixel
)

// raster turns polygons into coverage by the non-zero winding rule.
type raster struct {
	size      int
	first     []int32 // first crossing of each subline, -1 for none
	crossings []crossing
	cover     []int32 // size rows of size+2 differences; the last two take what falls outside
}

type crossing struct {
	x    int32 // in raster units, clamped to the frame
	turn int32 // +1 downwards, -1 upwards
	next int32
}

func (r *raster) reset(size int) {
	r.size = size
	if len(r.first) != size*sublines {
		r.first = make([]int32, size*sublines)
		r.cover = make([]int32, size*(size+2))
	}
	for i := range r.first {
		r.first[i] = -1
	}
	clear(r.cover)
	r.crossings = r.crossings[:0]
}

// line adds an edge between two places in raster units.
func (r *raster) line(x0, y0, x1, y1 int64) {
	turn := int32(1)
	if y0 > y1 {
		x0, y0, x1, y1, turn = x1, y1, x0, y0, -1
	}
	// Samples lie at y = k*step + step/2; the edge owns those with y0 <= y < y1.
	k := max((y0+step/2-1)>>stepBits, 0)
	end := min((y1+step/2-1)>>stepBits, int64(len(r.first)))
	for ; k < end; k++ {
		y := k*step + step/2
		x := x0 + (x1-x0)*(y-y0)/(y1-y0)
		x = min(max(x, 0), int64(r.size)*fine)
		r.crossings = append(r.crossings, crossing{int32(x), turn, r.first[k]})
		r.first[k] = int32(len(r.crossings) - 1)
	}
}

const stepBits = 5 // log2(step)

// fill adds the coverage of the edges so far to out (size*size values, in
// [0, one]): each becomes the maximum of what it was and strength times the
// coverage.
func (r *raster) fill(out []int32, strength int64) {
	var order [64]crossing
	for k, c := range r.first {
		if c < 0 {
			continue
		}
		row := r.cover[(k/sublines)*(r.size+2):][:r.size+2]
		list := order[:0]
		for ; c >= 0; c = r.crossings[c].next {
			v := r.crossings[c]
			i := len(list)
			list = append(list, v)
			for ; i > 0 && list[i-1].x > v.x; i-- {
				list[i] = list[i-1]
			}
			list[i] = v
		}
		winding := int32(0)
		for _, v := range list {
			was := winding
			winding += v.turn
			if (was == 0) == (winding == 0) {
				continue
			}
			px, f := v.x/fine, v.x%fine
			if was == 0 {
				row[px] += fine - f
				row[px+1] += f
			} else {
				row[px] -= fine - f
				row[px+1] -= f
			}
		}
	}
	for y := range r.size {
		sum := int32(0)
		for x := range r.size {
			sum += r.cover[y*(r.size+2)+x]
			v := int32(int64(sum) * one / full * strength >> 16)
			if i := y*r.size + x; v > out[i] {
				out[i] = v
			}
		}
	}
}

// polygon adds the closed contours of points in the frame, as point documents it.
func (r *raster) polygon(points []point, ends []int) {
	half := int64(r.size) * fine / 2
	begin := 0
	for _, e := range ends {
		if e == begin {
			continue
		}
		p := points[e-1]
		px, py := half+mul(p.x, half), half+mul(p.y, half)
		for _, q := range points[begin:e] {
			qx, qy := half+mul(q.x, half), half+mul(q.y, half)
			r.line(px, py, qx, qy)
			px, py = qx, qy
		}
		begin = e
	}
}
