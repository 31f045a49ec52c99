package mine

import (
	"errors"
	"fmt"
	"math"

	"tercet/internal/component"
	"tercet/internal/names"
)

// Layout says which rows of a batch are anchors.
type Layout string

const (
	// Pairs is the layout of class-pair batches (SPC-2): rows 2i and 2i+1 carry
	// one label; the even row is the anchor, the odd one its default positive.
	Pairs Layout = "pairs"
	// General takes any labels: each row whose label occurs again in the batch is
	// an anchor, its default positive is drawn uniformly from the other rows of
	// that label.
	General Layout = "general"
)

// Options configures a miner. Which fields a miner reads is said in its file.
type Options struct {
	Layout Layout
	// Margin is gamma: the width of the semihard band, and the border between
	// easy and semihard in Stats. In units of the Euclidean distance, or of its
	// square under Squared.
	Margin float64
	// Squared compares squared distances in the band and in Stats, as FaceNet
	// does: for losses on them.
	Squared bool
	// Normalize divides each row by its length before distances are taken. Leave
	// it off when the model normalizes.
	Normalize bool
	// Cutoff makes distance-weighted treat smaller distances as this one (Wu et
	// al. 2017 use 0.5); 0 is robrank's variant, without.
	Cutoff float64
	// Cap bounds the number of triplets that batch-all returns, chosen uniformly
	// without replacement; 0 takes all of them.
	Cap int
	// AnyRow makes a batch of one class yield triplets whose negative is any row,
	// as published; without it such a batch is ErrOneClass.
	AnyRow bool
}

// Defaults returns the published setting: class pairs, margin 0.2.
func Defaults() Options { return Options{Layout: Pairs, Margin: 0.2} }

var (
	// ErrOneClass is wrapped by the error for a batch without negatives.
	ErrOneClass = errors.New("batch of one class")
	// ErrNoPositive is wrapped by the error for a batch without positives.
	ErrNoPositive = errors.New("batch without positives")
	// ErrNonFinite is wrapped by the error for NaN or infinite embeddings.
	ErrNonFinite = errors.New("non-finite embedding")
)

// Family is the miners that a config can name. A miner registers itself in its file.
var Family = component.NewFamily[Keys]("semihard", "random", "softhard", "softhard-strict", "distance-weighted", "hardest", "batch-all")

// Keys are the keys of a miner in a config.
type Keys interface {
	// make returns the miner for checked options.
	make(o Options) Miner
}

// Setter is implemented by keys that set options.
type Setter interface{ Set(o *Options) }

// Many is implemented by the keys of miners that may find several triplets for an anchor.
// All other miners find one triplet for each anchor.
type Many interface{ Many() }

// Fitter is implemented by the keys of miners with requirements on embeddings. normalized
// says that embeddings have length 1.
type Fitter interface {
	Fit(normalized bool) []component.Fault
}

func init() { component.Enumerate("miners of one triplet", Samplers) }

// Samplers lists the miners that find one triplet for each anchor.
func Samplers() []string {
	var out []string
	for _, c := range Family.All() {
		if _, many := c.Defaults.(Many); !many {
			out = append(out, c.Name)
		}
	}
	return out
}

// New returns the miner of that name, for one goroutine at a time.
func New(name string, o Options) (Miner, error) {
	if o.Layout != Pairs && o.Layout != General {
		return nil, fmt.Errorf("mine: unknown layout %q (valid: pairs, general)", string(o.Layout))
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 0) {
		return nil, fmt.Errorf("mine: margin is %v, want a finite number >= 0", o.Margin)
	}
	if !(o.Cutoff >= 0 && o.Cutoff < 2) {
		return nil, fmt.Errorf("mine: cutoff is %v, want a distance from 0 to below 2", o.Cutoff)
	}
	if o.Cap < 0 {
		return nil, fmt.Errorf("mine: cap is %d, want 0 (all) or more", o.Cap)
	}
	c, ok := Family.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("mine: unknown miner %q; %s", name, names.Unknown(name, Family.Names()))
	}
	return c.Defaults.make(o), nil
}
