package attack

import (
	"fmt"
	"slices"

	"tercet/internal/attack/retrieval"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/array"
)

// Variant says how an attack is computed: as the published code does, or as the paper
// describes it.
type Variant string

const (
	// Published computes what the authors' code (robrank) computes, faults included.
	Published Variant = "published"
	// Fixed computes what the papers describe.
	Fixed Variant = "fixed"
)

// Batch is queries that are attacked together.
type Batch struct {
	Items []int        // their places in the set of images
	Clean *array.Array // (B, D) their clean embeddings
	// Repeat says how often each item came before, so that its targets are other draws;
	// nil: never.
	Repeat []int
}

// check returns an error unless b holds images of g's set and an embedding of each, whose
// distances float32 can hold.
func (b *Batch) check(name string, g *retrieval.Gallery) error {
	if err := b.Clean.SameShape("clean embeddings", len(b.Items), g.X.Cols()); err != nil {
		return fmt.Errorf("attack %s: %w", name, err)
	}
	for i, item := range b.Items {
		if item < 0 || item >= g.Images() {
			return fmt.Errorf("attack %s: query %d is item %d of %d images", name, i, item, g.Images())
		}
		if !g.InReach(b.Clean.Row(i)) {
			return fmt.Errorf("attack %s: the clean embedding of item %d is not finite, or too far from the gallery for float32", name, item)
		}
	}
	return nil
}

func (b *Batch) repeat(i int) int {
	if b.Repeat == nil {
		return 0
	}
	return b.Repeat[i]
}

// Method is one attack in one variant: a goal to be minimized over the embeddings
// of perturbed images, aimed at a batch of queries, and what is scored.
type Method interface {
	adversary.Goal
	// Kind names the objective. Two methods of one kind craft the same image of a
	// query if its Targets agree.
	Kind() string
	// Scores lists the keys of what Score writes.
	Scores() []string
	// Aim draws the targets of a batch from its clean embeddings. Those of a
	// query depend on the seed, its item, the draw and its clean distances, not
	// on the rest of the batch. b stays unchanged until the next Aim.
	Aim(b *Batch, draw int) error
	// Targets returns the gallery rows that query i is aimed at, of Gallery.Queries
	// where the attack perturbs candidates; nil: none.
	Targets(i int) []int32
	// Score writes score s of query i to out[s][i], given the embeddings z (B, D)
	// of the last iterate and those of the one before. The clean embeddings for
	// both give the clean value.
	Score(z, previous *array.Array, out [][]float64)
}

// MethodOptions holds the options of all attacks; each attack uses some of them.
type MethodOptions struct {
	Seed uint64
	W    int  // CA: queries that the candidate is moved to or from; 0 is 1, as ERS has
	M    int  // QA, SPQA: candidates that the query moves; 0 is 1, as ERS has
	Near bool // CA+, QA+: targets from positions 1 % to 5 % instead of the whole gallery
	// Pure replaces the hinges of CA and QA by the distance itself.
	Pure bool
	Xi   Xi // SPQA
}

// Xi weighs the semantics-preserving term of SPQA.
type Xi struct {
	// Scale is k of the adaptive weight min(exp(k L), 1e9), L the term itself
	// (robrank: 2e4 for MNIST, 4e4 for Fashion-MNIST and CUB, 7e4 for Cars and
	// SOP); 0 takes Weight.
	Scale float64
	// Weight is fixed; 0 is that of Zhou et al. (ECCV 2020): 1 for SPQA+, 100
	// for SPQA-.
	Weight float64
}

// given lists the options that are not left at 0.
func (o MethodOptions) given() []Option {
	var out []Option
	for option, given := range map[Option]bool{W: o.W > 0, M: o.M > 0, Near: o.Near, Pure: o.Pure, XiFixed: o.Xi.Weight != 0, XiScale: o.Xi.Scale != 0} {
		if given {
			out = append(out, option)
		}
	}
	slices.Sort(out)
	return out
}

// NewMethod returns the attack of that name on g.
func NewMethod(name string, g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error) {
	if v != Published && v != Fixed {
		return nil, fmt.Errorf("attack %s: unknown variant %q (valid: published, fixed)", name, string(v))
	}
	if o.W < 0 || o.M < 0 {
		return nil, fmt.Errorf("attack %s: w is %d and m %d; both must be non-negative", name, o.W, o.M)
	}
	a, err := Named(name)
	if err != nil {
		return nil, err
	}
	for _, option := range o.given() {
		if why, refused := a.Refuses[option]; refused {
			return nil, fmt.Errorf("attack %s: %s cannot be used with it: %s", name, option, why)
		}
	}
	return a.New(g, v, o)
}
