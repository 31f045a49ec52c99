package attack

import (
	"fmt"
	"slices"
	"strings"
)

// Score describes a number that an attack computes for each query: its key, unit and
// direction.
type Score struct {
	Key    string
	Unit   Unit
	Robust Direction
	// Recall marks scores that ask whether the right image is found first: for these
	// it matters whether it was found before the attack.
	Recall bool
	Panel  Panel
	// Revision counts the changes of the fixed variant after which its values are of
	// another attack; 0 is the first.
	Revision int
}

// Definition is the id of the score as a variant computes it, such as "es:d(fixed-2)".
func (s Score) Definition(v Variant) string {
	name := string(v)
	if v == Fixed && s.Revision > 0 {
		name += fmt.Sprintf("-%d", s.Revision+1)
	}
	return fmt.Sprintf("%s(%s)", strings.ToLower(s.Key), name)
}

// Unit is the unit of a score: a fraction, a cosine or a distance.
type Unit string

const (
	Fraction Unit = "fraction" // shown in percent, as the papers do
	Cosine   Unit = "cosine"
	Distance Unit = "distance"
)

// Range returns the least and the largest value of embeddings of length 1.
func (u Unit) Range() (low, high float64) {
	switch u {
	case Cosine:
		return -1, 1
	case Distance:
		return 0, 2
	}
	return 0, 1
}

// Direction says whether higher or lower values of a score mean a more robust model.
type Direction string

const (
	Higher  Direction = "higher"
	Lower   Direction = "lower"
	Neither Direction = "neither"
)

// Panel groups scores that a curve draws on one axis, and is the label of that axis.
type Panel string

const (
	suitePanel  Panel = "ERS (%)"
	recallPanel Panel = "right, or still retrieved (%)"
	rankPanel   Panel = "rank (% of the images)"
	keptPanel   Panel = "rank (%), of targets and of items to keep (GT)"
	vectorPanel Panel = "cosine (TMA), distance (ES:D)"
)

// Panels lists the panels from top to bottom.
func Panels() []Panel { return []Panel{suitePanel, recallPanel, rankPanel, keptPanel, vectorPanel} }

// ersScore describes the empirical robustness score; see RobustnessScore.
var ersScore = Score{Key: ERS, Unit: Fraction, Robust: Higher, Recall: true, Panel: suitePanel, Revision: 1}

// Scores lists the scores of all attacks in the order of All, and ERS at the end.
func Scores() []Score {
	var out []Score
	for _, a := range All() {
		out = append(out, a.Scores...)
	}
	return append(out, ersScore)
}

// ScoreNamed returns the score of that key; false where no attack has it.
func ScoreNamed(key string) (Score, bool) {
	list := Scores()
	if i := slices.IndexFunc(list, func(s Score) bool { return s.Key == key }); i >= 0 {
		return list[i], true
	}
	return Score{}, false
}

// KeysWhere lists the keys of the scores of which f holds, in the order of Scores.
func KeysWhere(f func(Score) bool) []string {
	var out []string
	for _, s := range Scores() {
		if f(s) {
			out = append(out, s.Key)
		}
	}
	return out
}

// LowerIsRobust reports whether a smaller score means a more robust model.
func LowerIsRobust(key string) bool {
	s, _ := ScoreNamed(key)
	return s.Robust == Lower
}

// Keys returns the keys of the scores of attacks, in their order, and ERS at the
// end where all of its scores are among them.
func Keys(attacks []string) []string {
	var out []string
	for _, name := range attacks {
		a, _ := Named(name)
		for _, s := range a.Scores {
			out = append(out, s.Key)
		}
	}
	if _, ok := ersColumns(out); ok {
		out = append(out, ERS)
	}
	return out
}
