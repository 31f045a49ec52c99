package attack

import (
	"fmt"
	"slices"
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
