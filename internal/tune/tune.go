// Package tune draws values of config keys, and chooses among runs trained with them by
// scores of validation images: random search (Bergstra and Bengio, "Random Search for
// Hyper-Parameter Optimization", JMLR 2012) and successive halving (Jamieson and Talwalkar,
// "Non-stochastic Best Arm Identification and Hyperparameter Optimization", AISTATS 2016).
package tune

import (
	"cmp"
	"fmt"
	"slices"

	"tercet/internal/config"
	"tercet/internal/rng"
)

// Trial is one draw of all keys.
type Trial struct {
	Number int
	Sets   []string // key=value, in the config's order
}

// Trials draws the trials of cfg's search. Each has a stream of its own: more trials begin
// with the same ones.
func Trials(cfg *config.Config) ([]Trial, error) {
	ranges, err := cfg.Ranges()
	if err != nil {
		return nil, err
	}
	out := make([]Trial, cfg.Search.Trials)
	for i := range out {
		r := rng.New(cfg.Search.Seed, "tune", uint64(i))
		out[i].Number = i
		for _, g := range ranges {
			out[i].Sets = append(out[i].Sets, g.Key+"="+g.At(r.Float64()))
		}
	}
	return out, nil
}

// Name is the end of the name of its run.
func (t Trial) Name() string { return fmt.Sprintf("trial-%03d", t.Number) }

// Rung is one round of a search: so many trials are trained for that length.
type Rung struct {
	Trials int
	Key    string // train.epochs or train.steps
	Length int
}

// Rungs are the rounds of cfg's search: one of random search; of successive halving as many
// as leave one trial and one epoch (or step) at least, each with 1/eta of the trials of the
// one before, for eta times as long, the last as long as cfg says.
func Rungs(cfg *config.Config) []Rung {
	key, length := "train.epochs", cfg.Train.Epochs
	if length == 0 {
		key, length = "train.steps", cfg.Train.Steps
	}
	n, eta := cfg.Search.Trials, cfg.Search.Eta
	last := 0
	if cfg.Search.Method == "halving" {
		for p := eta; n/p >= 1 && length/p >= 1; p *= eta {
			last++
		}
	}
	var out []Rung
	for k, part := 0, power(eta, last); k <= last; k, part = k+1, part/eta {
		out = append(out, Rung{max(1, n/power(eta, k)), key, length / part})
	}
	return out
}

func power(base, n int) int {
	p := 1
	for range n {
		p *= base
	}
	return p
}

// Config is the config of a trial in a rung, of so many rungs.
func (t Trial) Config(cfg *config.Config, rung, rungs int, r Rung) (*config.Config, error) {
	v := config.Variant{Name: t.Name(), Sets: t.Sets}
	if rungs > 1 {
		v.Name += fmt.Sprintf("_rung-%d", rung)
	}
	if rung < rungs-1 {
		v.Sets = append(slices.Clone(v.Sets), fmt.Sprintf("%s=%d", r.Key, r.Length))
	}
	out, err := cfg.Variant(v)
	if err != nil {
		return nil, fmt.Errorf("trial %d: %w", t.Number, err)
	}
	return out, nil
}

// Scored is a trial with its score; Lost says that it has none.
type Scored struct {
	Trial Trial
	Score float64
	Lost  bool
}

// Best returns the n trials with the highest scores, best first; equal ones in the order of
// their draw. Those without a score are left out.
func Best(all []Scored, n int) []Scored {
	kept := slices.DeleteFunc(slices.Clone(all), func(s Scored) bool { return s.Lost })
	slices.SortStableFunc(kept, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Trial.Number, b.Trial.Number))
	})
	return kept[:min(n, len(kept))]
}
