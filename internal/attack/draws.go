package attack

import (
	"errors"
	"fmt"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/rng"
)

// draws draws the targets of the queries of a batch. Both variants draw the same
// numbers; the fixed one draws again where the published target is hidden from the
// query: itself, or of its sequence. A window is the items nearest to the clean query,
// the hidden ones left out: the published variant takes the nearest item of all for
// the query, the fixed one knows its index.
type draws struct {
	g       *retrieval.Gallery
	name    string
	variant Variant
	seed    uint64
	stream  rng.Stream
	near    retrieval.Windows
	k       int // items of a window
}

// onePercent returns how many items the nearest 1 % of a gallery are, at least 1.
func onePercent(n int) int { return max(1, n/100) }

// aim begins a batch whose targets are drawn from windows of k items; 0: from the
// whole gallery.
func (s *draws) aim(b *Batch, k int) error {
	if err := b.check(s.name, s.g); err != nil {
		return err
	}
	if k > 0 {
		s.k = k
		s.near.Find(s.g, b.Clean, min(k+s.g.MostHidden(b.Items), s.g.Len()))
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
	for s.variant == Fixed && hides(s.g, item, t) {
		t = s.stream.IntN(s.g.Len())
	}
	return int32(t)
}

func hides(g *retrieval.Gallery, item, row int) bool {
	_, is := slices.BinarySearch(g.Hidden(item), int32(row))
	return is
}

// window returns the items nearest to query i, nearest first. It can be asked for
// once.
func (s *draws) window(i, item int) ([]int32, error) {
	hidden := s.g.Hidden(item)
	if s.variant == Published {
		hidden = []int32{s.near.Items[i][0]}
	}
	list := retrieval.Without(s.near.Items[i], hidden)
	if len(list) < s.k {
		return nil, retrieval.Unfit("attack %s: image %d is compared with %d images, and its targets are drawn from the nearest %d", s.name, item, len(list), s.k)
	}
	return list[:s.k], nil
}

// unranked returns the items that ranks of a query leave out: published ranks count
// the query itself.
func (s *draws) unranked(item int) []int32 {
	if s.variant == Published {
		return nil
	}
	return s.g.Hidden(item)
}

// ErrTooMany is in errors about more targets (w, m) asked for than there are to
// choose from, where fewer could be; they are retrieval.ErrUnfit, too.
var ErrTooMany = errors.New("attack: too many targets")

type excess struct{ error }

func (excess) Is(target error) bool { return target == retrieval.ErrUnfit || target == ErrTooMany }

// tooMany is the error of more targets than there are to choose from.
func tooMany(name, option string, targets, from int, of string) error {
	err := fmt.Errorf("attack %s: %s is %d, but there are %d %s; give at most as many", name, option, targets, from, of)
	if from < 1 {
		return retrieval.Unfit("%w", err)
	}
	return excess{err}
}
