package config

import (
	"fmt"
	"strings"
	"testing"
)

// Which losses go with which defenses: those on triplets with all, those on pairs with
// embedding shift alone, and a destination that follows the loss needs its scale.
func TestLossesUnderDefenses(t *testing.T) {
	t.Parallel()
	const given = "{name: hm, destination: {name: lga, gamma: 0.2, u: 0.5}}"
	defenses := []string{"est", "act", "minmax", "{name: hm, destination: constant}", "hm", given}
	for loss, refused := range map[string][]string{ // by defense, "" where it is taken
		"triplet":                            {"", "", "", "", "", ""},
		"{name: triplet, form: soft}":        {"", "", "", "", "loss.form: hinge", ""},
		"{name: triplet, distance: squared}": {"", "", "", "", "loss.distance: euclidean", ""},
		"triplet-capped":                     {"", "", "", "", "give u and gamma", ""},
		"triplet-threshold":                  {"", "", "", "", "give u and gamma", ""},
		"triplet-robust":                     {"", "", "", "", "give u and gamma", ""},
		"contrastive":                        {"", "act perturbs triplets", "minmax perturbs", "hm perturbs", "hm perturbs", "hm perturbs"},
		"cosine":                             {"", "act perturbs triplets", "minmax perturbs", "hm perturbs", "hm perturbs", "hm perturbs"},
		"multi-similarity":                   {"", "act perturbs triplets", "minmax perturbs", "hm perturbs", "hm perturbs", "hm perturbs"},
	} {
		miner := "miner: random\n"
		if strings.Contains("contrastive cosine multi-similarity", loss) {
			miner = ""
		}
		for i, defense := range defenses {
			_, err := LoadBytes([]byte(fmt.Sprintf("%sloss: %s\ndefense: %s\n", miner, loss, defense)), "f.yaml", nil)
			if want := refused[i]; (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s with %s: %v, want %q", loss, defense, err, want)
			}
		}
	}
	for _, defense := range defenses {
		if _, err := LoadBytes([]byte("model: {normalize: false}\nminer: random\ndefense: "+defense+"\n"), "f.yaml", nil); err != nil {
			t.Errorf("%s off the unit sphere: %v", defense, err)
		}
	}
}
