package metric

import "slices"

// Irrelevant items that are as near as a relevant one count half in triplet_error.
// Ranks order them by index; here they are distinguished, at the cost of a comparison
// for each item.

// sameKey reports whether two codes are of one key.
func sameKey(a, b uint64) bool { return (a^b)>>32 == 0 }

// ties counts irrelevant items with the key of a relevant one. Those between the
// relevant items p-1 and p are in up[p] if they have the key of p, else, having that
// of p-1, in down[p].
type ties struct {
	any      bool
	up, down []int32 // one longer than the relevant items
}

// reset prepares for n relevant items.
func (t *ties) reset(n int) {
	if t.any {
		clear(t.up)
		clear(t.down)
	}
	t.any = false
	if cap(t.up) <= n { // beyond their lengths both hold zeros alone
		t.up, t.down = make([]int32, n+1), make([]int32, n+1)
	}
	t.up, t.down = t.up[:n+1], t.down[:n+1]
}

// meet takes an item whose code stands at place p among those of the relevant items,
// cut, and has the key of a neighbor there.
func (t *ties) meet(cut []uint64, v uint64, p int) {
	switch {
	case p < len(t.up)-1 && cut[p] == v: // relevant itself
		return
	case p < len(t.up)-1 && sameKey(cut[p], v):
		t.up[p]++
	default:
		t.down[p]++
	}
	t.any = true
}

// meet finds the place of an item that may have a relevant item's key.
func (w *rowScratch) meet(v uint64) {
	p, _ := slices.BinarySearch(w.cut, v)
	if p < len(w.cut) && sameKey(w.cut[p], v) || p > 0 && sameKey(w.cut[p-1], v) {
		w.tied.meet(w.cut, v, p)
	}
}

// countIrrelevant fills twice from cut, ranks and tied.
func (w *rowScratch) countIrrelevant() {
	w.twice = slices.Grow(w.twice[:0], len(w.cut))[:len(w.cut)]
	if !w.tied.any {
		for p, r := range w.ranks {
			w.twice[p] = 2 * (r - int32(p))
		}
		return
	}
	for a, b := 0, 0; a < len(w.cut); a = b {
		same := int32(0)
		for b = a; b < len(w.cut) && sameKey(w.cut[a], w.cut[b]); b++ {
			same += w.tied.up[b]
		}
		same += w.tied.down[b]
		before := w.ranks[a] - int32(a) - w.tied.up[a]
		for p := a; p < b; p++ {
			w.twice[p] = 2*before + same
		}
	}
}

// leaveRelevant takes the relevant items out of twice, where they count as others do.
func (w *rowScratch) leaveRelevant() {
	for a, b := 0, 0; a < len(w.cut); a = b {
		for b = a; b < len(w.cut) && sameKey(w.cut[a], w.cut[b]); b++ {
		}
		for p := a; p < b; p++ {
			w.twice[p] -= int32(2*a + b - a - 1)
		}
	}
}

// keySet tells of most keys that they are not in it.
type keySet [64]uint64

func (s *keySet) at(v uint64) uint32 { return uint32(v>>32) * 2654435761 >> 20 }

func (s *keySet) add(v uint64) {
	h := s.at(v)
	s[h>>6] |= 1 << (h & 63)
}

func (s *keySet) has(v uint64) bool {
	h := s.at(v)
	return s[h>>6]>>(h&63)&1 != 0
}
