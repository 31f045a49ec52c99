package loss

// incidence lists, for every row of a batch, the ends of edges that lie at it: the
// gradient of a row is then one sum, in the order of the edges, whatever the
// number of threads.
type incidence struct {
	start []int32 // (rows+1): ends of row r are ends[start[r]:start[r+1]]
	ends  []int32 // 2e for the first end of edge e, 2e+1 for the second
}

// build sorts the ends of edges by row, keeping the order of the edges.
func (c *incidence) build(edges []edge, rows int) {
	c.start, c.ends = Grow(c.start, rows+1), Grow(c.ends, 2*len(edges))
	clear(c.start)
	for _, e := range edges {
		c.start[e.i]++
		c.start[e.j]++
	}
	var sum int32
	for r, n := range c.start {
		c.start[r] = sum
		sum += n
	}
	for e, p := range edges { // start[r] runs to the first end of row r+1
		c.ends[c.start[p.i]] = int32(2 * e)
		c.start[p.i]++
		c.ends[c.start[p.j]] = int32(2*e + 1)
		c.start[p.j]++
	}
	copy(c.start[1:], c.start[:rows])
	c.start[0] = 0
}

// at returns the ends at row r.
func (c *incidence) at(r int) []int32 { return c.ends[c.start[r]:c.start[r+1]] }

// Block is the number of columns that a row's gradient is summed for at a time, in
// float64 on the stack.
const Block = 128

// rowChunk is the number of rows of the given width per chunk of parallel work.
func rowChunk(cols int) int { return max(1, 4096/max(cols, 1)) }

// Grow returns s with length n, reusing its storage where it suffices.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
