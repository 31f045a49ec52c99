package attack

import (
	"fmt"
	"slices"

	"tercet/internal/attack/retrieval"
)

// Suite returns the attacks of a suite: "ers", the nine whose ten scores make the
// empirical robustness score.
func Suite(name string) ([]string, error) {
	if name != "ers" {
		return nil, fmt.Errorf("attack: unknown suite %q (valid: ers)", name)
	}
	return slices.Clone(ersAttacks), nil
}

// Variants lists the variants in the order of tables.
func Variants() []Variant { return []Variant{Published, Fixed} }

// VariantsOn lists those that attacks on g have. The published ones take the image nearest
// to a query for the query itself: where queries are not in the gallery they would leave
// out the best answer.
func VariantsOn(g *retrieval.Gallery) []Variant {
	if g.Apart() {
		return []Variant{Fixed}
	}
	return Variants()
}

func checkVariants(g *retrieval.Gallery, list []Variant) error {
	for _, v := range list {
		if !slices.Contains(VariantsOn(g), v) {
			return retrieval.Unfit("attack: variant %s assumes that the image nearest to a query is the query itself, which is wrong for a separate gallery or sequences: use variant %s", v, Fixed)
		}
	}
	return nil
}
