package attack

import (
	"math"
	"strings"
	"testing"
)

func TestProfilesAreThePublishedOnes(t *testing.T) {
	for name, code := range map[string][2]float64{"rob28": {0.30196, 0.011764}, "rob224": {0.03137, 0.011764}} {
		p, err := ProfileNamed(name)
		pgd := p.PGD()
		if err != nil || pgd.Validate() != nil || math.Abs(p.Eps-code[0]) > 3e-6 || math.Abs(p.Step-code[1]) > 3e-6 || p.Iterations != 32 {
			t.Errorf("%+v, %v", p, err)
		}
	}
	if _, err := ProfileNamed("rob42"); err == nil || !strings.Contains(err.Error(), "rob28, rob224") {
		t.Error(err)
	}
}
