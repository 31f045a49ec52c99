package worst

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/nn"
	"tercet/internal/progress"
)

// The galleries that queries are searched in.
const (
	Full       = "full"      // all rows
	Trimmed    = "trimmed"   // without the rows that are not retrieved right themselves
	Prototypes = "prototype" // a row for each label: the mean of its rows, without the query
)

// Galleries lists the galleries in the order of tables.
func Galleries() []string { return []string{Full, Trimmed, Prototypes} }

// Options of Run.
type Options struct {
	Version   string // "": Standard
	Norm      adversary.Norm
	Eps       float64  // radius, pixels in [0, 1]; 0 leaves images as they are
	Steps     int      // of each run of APGD and FAB; 0 is DefaultSteps
	Squares   int      // proposals of Square; 0 is DefaultSquares
	Galleries []string // none given: Full
	K         int      // a query is broken if none of its K nearest rows is right; 0 is 1
	Queries   int      // how many queries; 0 is all
	Sample    bool     // draw them at random instead of taking the first
	Seed      uint64   // of that draw, of random starts and of noise
	Together  int      // images in a batch; 0 chooses. It changes no result.
	Battery   bool     // whether to look for masked gradients in the first gallery
	Moves     bool     // whether images of the gallery are moved, too, for clean queries
	Given     *Given   // images of queries that somebody else has made, to be tried first
	Others    []Other  // networks whose broken images are tried
	// Verifier embeds each broken image again, alone: the same weights by other kernels.
	// nil: the model itself.
	Verifier nn.Embedder
	Progress progress.Count // of queries, one member after another
	// Resume is what an earlier, unfinished run of the same options has given to Keep.
	Resume []*State
	// Keep takes what there is after each member, gallery by gallery; it only reads.
	Keep func([]*State) error

	members []member // nil: ensemble
}

// DefaultSteps is the number of gradient steps of a run of APGD or FAB, DefaultSquares the
// number of images that Square tries: those of AutoAttack's standard version.
const (
	DefaultSteps   = 100
	DefaultSquares = 5000
)

const (
	targets      = 9   // labels, and rows of FAB, that are aimed at
	targetLabel  = 3   // at most so many of one label, where there are labels enough
	draws        = 100 // of the member noise
	softRows     = 200 // nearest right and nearest wrong rows of the loss soft
	cellRows     = 50  // nearest right rows from which a cell's distance is bounded
	perplexity   = 10  // of the softmax that fixes the temperature
	warmRows     = 50  // of which that is
	copied       = 5   // wrong images that the member copy moves towards, and that check B8 tries
	copySteps    = 4   // on the way there
	searchedRows = 1   // of each kind, where the nearest decide
)

func (o *Options) fill() error {
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.Squares == 0 {
		o.Squares = DefaultSquares
	}
	if o.K == 0 {
		o.K = 1
	}
	if o.members == nil {
		o.members = ensemble()
	}
	if o.Version == "" {
		o.Version = Standard
	}
	if !slices.Contains(Versions(), o.Version) {
		return fmt.Errorf("worst case: unknown version %q (valid: %s)", o.Version, strings.Join(Versions(), ", "))
	}
	if len(o.Galleries) == 0 {
		o.Galleries = []string{Full}
	}
	for i, name := range o.Galleries {
		if !slices.Contains(Galleries(), name) {
			return fmt.Errorf("worst case: unknown gallery %q (valid: %s)", name, strings.Join(Galleries(), ", "))
		}
		if slices.Contains(o.Galleries[:i], name) {
			return fmt.Errorf("worst case: gallery %s is named twice", name)
		}
	}
	if o.Queries < 0 || o.Together < 0 || o.K < 0 {
		return errors.New("worst case: queries, nearest rows and images in a batch must be non-negative")
	}
	if o.Moves && o.K > 1 {
		return errors.New("worst case: a moving gallery allows only one nearest row")
	}
	p := o.pgd()
	return p.Validate()
}

// pgd is APGD within the budget, from the clean image.
func (o *Options) pgd() adversary.PGD {
	p := adversary.PGD{
		Norm: o.Norm, Eps: o.Eps, Iterations: o.Steps, Direction: adversary.Sign, Rule: adversary.Auto,
		Start: adversary.FromClean, Restarts: 1, Keep: adversary.Best, Mode: nn.Eval,
	}
	if o.Norm == adversary.L2 {
		p.Direction = adversary.Normalized
	}
	return p
}

// Source is a set of images in a fixed order.
type Source = attack.Source
