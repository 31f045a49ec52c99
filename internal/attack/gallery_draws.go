package attack

import (
	"fmt"

	"tercet/internal/rng"
)

// draws draws the targets of the queries of a batch. Both variants draw the same
// numbers; the fixed one draws again where the published target is the query
// itself. A window is the items nearest to the clean query, itself left out: the
// published variant takes the nearest item of all for it, the fixed one its index.
type draws struct {
	g       *Gallery
	name    string
	variant Variant
	seed    uint64
	stream  rng.Stream
	near    windows
}

// onePercent returns how many items the nearest 1 % of a gallery are, at least 1.
func onePercent(n int) int { return max(1, n/100) }

// aim begins a batch whose targets are drawn from windows of k items; 0: from the
// whole gallery.
func (s *draws) aim(b *Batch, k int) error {
	if err := s.g.checkBatch(s.name, b); err != nil {
		return err
	}
	if k > 0 {
		s.near.find(s.g, b.Clean, k+1)
	}
	return nil
}

// begin sets the stream to that of an item.
func (s *draws) begin(item, draw int) {
	s.stream.Reset(s.seed, "attack."+s.name, uint64(item), uint64(draw))
}

// anywhere draws from the whole gallery.
func (s *draws) anywhere(item int) int32 {
	t := s.stream.IntN(s.g.Len())
	for s.variant == Fixed && t == item {
		t = s.stream.IntN(s.g.Len())
	}
	return int32(t)
}

// window returns the items nearest to query i, nearest first. It can be asked for
// once.
func (s *draws) window(i, item int) []int32 {
	if s.variant == Published {
		item = int(s.near.items[i][0])
	}
	return s.near.without(i, int32(item))
}

// skipped returns the item that ranks of a query leave out, -1 for none, and the
// number of those they count: published ranks count the query itself.
func (s *draws) skipped(item int) (skip int32, count float64) {
	if s.variant == Published {
		return -1, float64(s.g.Len())
	}
	return int32(item), float64(s.g.Len() - 1)
}

// tooMany is the error of more targets than there are to choose from.
func tooMany(name, option string, targets, from int, of string) error {
	err := fmt.Errorf("attack %s: %s is %d, but there are %d %s; give at most as many", name, option, targets, from, of)
	if from < 1 {
		return unfit{err}
	}
	return excess{err}
}
