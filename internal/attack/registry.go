package attack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tercet/internal/attack/retrieval"
)

// Attack describes an attack that users can name. Everything that is said of it
// elsewhere (help, tables, plots, gates, docs) is read from here, so that an attack
// is one file: its description, registered by init, and its Method.
type Attack struct {
	Name string
	Doc  string // what it does, a verb and its object, after its full name if it has one
	Goal string // what the attacker wants, as an imperative; it stands above pictures
	// Objective is the formula that is minimized: z is the embedding of the perturbed
	// image, z0 that of the clean one, x runs over the gallery, d is the distance.
	Objective string
	Source    string // paper, and the code that the published variant follows
	// Targets says what the rows that Method.Targets returns are; "" for none.
	Targets string
	Scores  []Score  // in the order of Method.Score
	Options []Option // that have an effect
	// Candidates says that the perturbed image is one of the gallery, aimed at queries.
	Candidates bool
	// Refuses holds the options that the attack does not allow, with the reason.
	Refuses map[Option]string
	// Caption says what became of one query, from its first score without the attack
	// and under it; nil takes the words of the score's unit.
	Caption func(clean, now float64) string
	New     func(g *retrieval.Gallery, v Variant, o MethodOptions) (Method, error)
}

// Option names an option that only some attacks use, as flags spell it.
type Option string

// The options, in the order of MethodOptions, and Draws of Options.
const (
	W       Option = "ca-queries"
	M       Option = "qa-candidates"
	Near    Option = "near-targets"
	Pure    Option = "distance-objective"
	XiFixed Option = "spqa-weight"
	XiScale Option = "spqa-weight-scale"
	Draws   Option = "target-draws" // targets are random
)

// MethodOptionNames lists the options that only some attacks use.
func MethodOptionNames() []Option { return []Option{W, M, Near, Pure, XiFixed, XiScale, Draws} }

// Uses reports whether an option has an effect on the attack.
func (a Attack) Uses(o Option) bool { return slices.Contains(a.Options, o) }

// Achieved says in words how the attack changed one query.
func (a Attack) Achieved(clean, now float64) string {
	switch {
	case a.Caption != nil:
		return a.Caption(clean, now)
	case a.Scores[0].Recall:
		return recallWords(clean == 1, now == 1)
	case a.Scores[0].Unit == Fraction:
		return fmt.Sprintf("%.1f to %.1f %%", 100*clean, 100*now)
	}
	return fmt.Sprintf("%.2f to %.2f", clean, now)
}

// recallWords says whether the first image retrieved is right, and was when clean.
func recallWords(clean, now bool) string {
	switch {
	case now && clean:
		return "still right"
	case now:
		return "now right"
	case clean:
		return "wrong"
	}
	return "wrong before too"
}

var registered []Attack

// register adds attacks. It panics where a description is incomplete.
func register(list ...Attack) {
	for _, a := range list {
		if a.Name == "" || a.Doc == "" || a.Goal == "" || a.Objective == "" || a.Source == "" || len(a.Scores) == 0 || a.New == nil {
			panic(fmt.Sprintf("attack %q is not described", a.Name))
		}
		registered = append(registered, a)
	}
}

// All returns the attacks in the order of tables: those of the suite ers as in the
// papers' tables, then the others by name.
var All = sync.OnceValue(func() []Attack {
	place := func(a Attack) int {
		if i := slices.Index(ersAttacks, a.Name); i >= 0 {
			return i
		}
		return len(ersAttacks)
	}
	list := slices.Clone(registered)
	slices.SortFunc(list, func(a, b Attack) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a.Name, b.Name))
	})
	return list
})

// Attacks lists the names of All.
func Attacks() []string { return names(func(Attack) bool { return true }) }

// Users lists the attacks on which an option has an effect.
func Users(o Option) []string { return names(func(a Attack) bool { return a.Uses(o) }) }

func names(which func(Attack) bool) []string {
	var out []string
	for _, a := range All() {
		if which(a) {
			out = append(out, a.Name)
		}
	}
	return out
}

// Named returns the attack of that name, or an error listing those that there are.
func Named(name string) (Attack, error) {
	for _, a := range All() {
		if a.Name == name {
			return a, nil
		}
	}
	return Attack{}, fmt.Errorf("attack: unknown attack %q (valid: %s)", name, strings.Join(Attacks(), ", "))
}

// uses reports whether one of the named attacks uses an option.
func uses(attacks []string, o Option) bool {
	users := Users(o)
	return slices.ContainsFunc(attacks, func(name string) bool { return slices.Contains(users, name) })
}

// perturbsCandidates reports whether an attack perturbs images of the gallery.
func perturbsCandidates(name string) bool {
	a, err := Named(name)
	return err == nil && a.Candidates
}

// ByDefault is the attack that is run, and drawn, where none is named.
const ByDefault = "ES"

// Shown returns the attack of which pictures are kept where none is named:
// ByDefault, or else the first.
func Shown(attacks []string) string {
	if slices.Contains(attacks, ByDefault) {
		return ByDefault
	}
	return attacks[0]
}
