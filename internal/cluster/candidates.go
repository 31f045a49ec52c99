package cluster

import "math/bits"

// candidates lists, for each of 64 rows, the centers that may be its nearest.
type candidates struct {
	center []int32 // (64, most)
	count  [64]int32
	most   int
}

// gather fills the lists of the rows in near from a mask of 64 rows for each of
// k centers, stride words apart.
func (c *candidates) gather(k int, mask []uint64, stride int, near uint64) {
	if len(c.center) < 64*k {
		c.center = make([]int32, 64*k)
	}
	c.most = k
	clear(c.count[:])
	for i := range k {
		for m := mask[i*stride] & near; m != 0; m &= m - 1 {
			j := bits.TrailingZeros64(m)
			c.center[j*k+int(c.count[j])] = int32(i)
			c.count[j]++
		}
	}
}

// several fills near, of a mask with words words for each center, with the rows
// that more than one center is left for, and returns the number of bits.
func several(mask []uint64, words int, near []uint64) (left int) {
	for v := range words {
		var once, twice uint64
		for i := v; i < len(mask); i += words {
			m := mask[i]
			twice |= once & m
			once |= m
			left += bits.OnesCount64(m)
		}
		near[v] = twice
	}
	return left
}

// of returns the candidates of row j, ascending.
func (c *candidates) of(j int) []int32 { return c.center[j*c.most:][:c.count[j]] }
