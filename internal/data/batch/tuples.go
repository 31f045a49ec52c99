package batch

import (
	"fmt"
	"slices"
	"sync"

	"tercet/internal/data/fault"
	"tercet/internal/rng"
)

// Pair is two items of a dataset and whether they are said to be of one class.
type Pair struct {
	I, J    int32
	Similar bool
}

// Triplet is an anchor and two items of a dataset, of which P is said to be the
// nearer to the anchor.
type Triplet struct{ A, P, N int32 }

// TupleOptions are those of the samplers over given pairs and triplets.
type TupleOptions struct {
	Size     int    // tuples per batch, at least 1
	DropLast bool   // leave out a short last batch
	Redraw   bool   // other tuples every epoch, as many as in epoch 0
	Keep     bool   // the given order; otherwise another random order every epoch
	Items    int    // N of the dataset, to check the tuples early; 0 leaves that to the loader
	Seed     uint64 // of the order
}

// RowLabels is implemented by samplers that give rows their own labels instead of the
// dataset's. A loader puts them into Batch.Labels.
type RowLabels interface {
	// RowLabels returns the label of each row of Plan(epoch). The caller owns the
	// result.
	RowLabels(epoch int) [][]int32
}

// NewPairSampler returns a sampler over given pairs, each once an epoch, of
// layout LayoutGivenPairs. draw is asked for epoch 0 only, unless o.Redraw is
// set; it must be a pure function, and safe for concurrent use. An error wraps
// ErrUnfit where there are too few pairs.
func NewPairSampler(draw func(epoch int) []Pair, o TupleOptions) (Sampler, error) {
	return newGiven("pair", LayoutGivenPairs, 2, o, func(epoch int) tupleRows {
		pairs := draw(epoch)
		d := tupleRows{make([]int32, 0, 2*len(pairs)), make([]int32, 2*len(pairs))}
		for k, p := range pairs {
			d.items = append(d.items, p.I, p.J)
			if !p.Similar {
				d.labels[2*k+1] = 1
			}
		}
		return d
	})
}

// NewTripletSampler is NewPairSampler for triplets, of layout
// LayoutGivenTriplets.
func NewTripletSampler(draw func(epoch int) []Triplet, o TupleOptions) (Sampler, error) {
	return newGiven("triplet", LayoutGivenTriplets, 3, o, func(epoch int) tupleRows {
		triplets := draw(epoch)
		d := tupleRows{make([]int32, 0, 3*len(triplets)), make([]int32, 3*len(triplets))}
		for k, t := range triplets {
			d.items = append(d.items, t.A, t.P, t.N)
			d.labels[3*k+2] = 1
		}
		return d
	})
}

// tupleRows are the rows of an epoch's tuples, one tuple after another.
type tupleRows struct{ items, labels []int32 }

// given is a sampler over tuples of width rows that somebody else has drawn.
type given struct {
	kind, layout string
	width, count int // rows of a tuple, tuples of an epoch
	o            TupleOptions
	draw         func(epoch int) tupleRows

	mu    sync.Mutex // guards what follows, for o.Redraw
	epoch int        // that rows and err are of
	rows  tupleRows
	err   error
}

func newGiven(kind, layout string, width int, o TupleOptions, draw func(epoch int) tupleRows) (Sampler, error) {
	if o.Size < 1 {
		return nil, fmt.Errorf("given %ss: %d in a batch; want at least 1", kind, o.Size)
	}
	s := &given{kind: kind, layout: layout, width: width, o: o, draw: draw}
	s.rows = draw(0)
	s.count = len(s.rows.items) / width
	if s.count == 0 {
		return nil, fault.Unfit("given %ss: there are none", kind)
	}
	if s.Steps() == 0 {
		return nil, fault.Unfit("given %ss: %d make no batch of %d; ask for smaller batches", kind, s.count, o.Size)
	}
	if err := s.inspect(s.rows); err != nil {
		return nil, err
	}
	return s, nil
}

// inspect returns what is wrong with the tuples of an epoch.
func (s *given) inspect(d tupleRows) error {
	if n := len(d.items) / s.width; n != s.count {
		return fmt.Errorf("given %ss: there are %d, but epoch 0 had %d; every epoch must have as many", s.kind, n, s.count)
	}
	for r, i := range d.items {
		if i < 0 || (s.o.Items > 0 && int(i) >= s.o.Items) {
			return fmt.Errorf("given %ss: %s %d has item %d, which the data do not have", s.kind, s.kind, r/s.width, i)
		}
	}
	return nil
}

// at returns the rows of an epoch in the order in which they were given. The
// last epoch's are remembered: Plan and RowLabels ask for the same ones.
func (s *given) at(epoch int) (tupleRows, error) {
	if !s.o.Redraw {
		return s.rows, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch != s.epoch {
		s.epoch, s.rows = epoch, s.draw(epoch)
		if s.err = s.inspect(s.rows); s.err != nil {
			s.rows = tupleRows{}
		}
	}
	return s.rows, s.err
}

// check returns why an epoch has no plan.
func (s *given) check(epoch int) error {
	_, err := s.at(epoch)
	return err
}

// Plan returns nil for an epoch whose draw does not fit epoch 0; a loader
// reports it.
func (s *given) Plan(epoch int) [][]int32 {
	d, _ := s.at(epoch)
	return s.arrange(epoch, d.items)
}

func (s *given) RowLabels(epoch int) [][]int32 {
	d, _ := s.at(epoch)
	return s.arrange(epoch, d.labels)
}

// arrange puts the rows of whole tuples into the epoch's order and cuts them
// into batches.
func (s *given) arrange(epoch int, rows []int32) [][]int32 {
	if rows == nil {
		return nil
	}
	rows = slices.Clone(rows)
	if !s.o.Keep {
		w := s.width
		rng.New(s.o.Seed, "sampler/"+s.layout, uint64(epoch)).Shuffle(s.count, func(i, j int) {
			for k := range w {
				rows[i*w+k], rows[j*w+k] = rows[j*w+k], rows[i*w+k]
			}
		})
	}
	return cut(rows, s.BatchSize(), s.o.DropLast)
}

func (s *given) Steps() int     { return batches(s.count, s.o.Size, s.o.DropLast) }
func (s *given) BatchSize() int { return s.width * s.o.Size }
func (s *given) Layout() string { return s.layout }
