package loss

import "tercet/internal/component"

// Family is the losses that a config can name. A loss registers itself in its file.
var Family = component.NewFamily[Options]("triplet", "triplet-capped", "triplet-threshold", "contrastive", "cosine", "triplet-robust")

// Options are the keys of a loss, and what the rest of the program asks about the loss
// before it has one. What only some losses can answer are the interfaces below.
type Options interface {
	// New returns the loss, or an error naming the key that is wrong.
	New() (Objective, error)
	// Takes says which tuples of a batch the loss sums over.
	Takes() Kind
}

// Checked returns l, a loss with those options, or an error naming the one that is wrong.
func Checked[L Objective](name string, o Options, l L) (L, error) {
	if err := component.Err("loss "+name, o); err != nil {
		var none L
		return none, err
	}
	return l, nil
}

// Kind is a kind of tuples.
type Kind string

const (
	// Triplets are given by a sampler or found by a miner.
	Triplets Kind = "triplets"
	// Pairs are given by a sampler; where it gives none, they are all pairs of a batch.
	Pairs Kind = "pairs"
	// AllPairs are all pairs of a batch by its labels; a list of pairs will not do.
	AllPairs Kind = "all pairs"
	// Labels are the classes of the rows of a batch; given pairs and triplets will not do.
	Labels Kind = "labels"
)

// Switchable is implemented by the options of losses that take another kind of tuples
// where a key has another value.
type Switchable interface {
	// For returns that key and its value, ok false where the loss cannot take them.
	For(k Kind) (key, value string, ok bool)
}

// OnSquares is implemented by the options of losses that may work on squared
// distances: their margin, and with it a miner's band, is then in these.
type OnSquares interface{ Squared() bool }

// Bordered is implemented by the options of losses that bound squared distances from
// both sides: positives stay below beta, negatives beyond alpha.
type Bordered interface{ Borders() (alpha, beta float64) }

// Bounded is implemented by the options of losses of which the largest value of one
// tuple, or of both pairs of a triplet, can be said. unit says that embeddings have
// length 1; ok is false where there is no bound.
type Bounded interface {
	Supremum(unit bool) (value float64, ok bool)
}

// Decomposable is implemented by the options of losses that are a reduced sum of terms
// of single tuples.
type Decomposable interface {
	// Summed returns the loss whose value on one tuple is the tuple's term.
	Summed() Options
}

// PairPredictor is implemented by the options of losses that predict from two
// embeddings whether they are similar.
type PairPredictor interface{ PairRule() PairRule }

// AgainstMargin is implemented by the options of losses whose value can be compared
// with their margin, as gradual adversaries do.
type AgainstMargin interface {
	// AgainstMargin returns what has to change before it can.
	AgainstMargin() []component.Fault
}

// Fitter is implemented by the options of losses that ask something of the rest of an
// experiment.
type Fitter interface {
	Fit(Setting) []component.Fault
}

// WithLabels is implemented by the options of losses on triplets that may need the labels of
// a batch, too: ok says that they do, and not with another value of that key.
type WithLabels interface {
	WithLabels() (key, instead string, ok bool)
}

// Ordered is implemented by the options of losses whose value depends on the order of the
// rows of a batch.
type Ordered interface{ Ordered() }

// Setting is what losses may ask of the rest of an experiment.
type Setting struct {
	Normalized bool   // embeddings have length 1
	Views      int    // of each image of a batch
	Collapse   bool   // cosines of a batch near 1 stop the run
	Noise      string // the noise that is put on the training data
	// Contrast returns how much more probable right triplets are than reversed ones
	// under that noise, at most, whatever the number of classes; product counts the
	// errors of positive and negative as independent. known is false where this does
	// not follow from the noise.
	Contrast func(product bool) (contrast float64, known bool)
}

// NoiseAware is implemented by the options of losses that know how probable it is that
// a triplet is wrong.
type NoiseAware interface {
	Options
	// Odds returns the probabilities as the config states them.
	Odds() Odds
	// Weigh returns the loss for triplets that are right with probability w1, and whose
	// positive and negative are exchanged with probability w2.
	Weigh(w1, w2 float64) Options
}

// Odds are the probabilities of wrong triplets as a config states them: rho, beta and
// gamma, a file, or nothing where they follow from the noise in force.
type Odds struct {
	Rho         *float64
	Beta, Gamma component.Auto
	NoiseFrom   string
	Product     bool // the errors of positive and negative count as independent
}

// Given says whether the probabilities do not follow from the noise in force.
func (o Odds) Given() bool { return o.Beta.Given || o.Rho != nil || o.NoiseFrom != "" }
