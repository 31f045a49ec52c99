package record

import (
	"strings"
	"testing"
)

// Each option is looked at: as more or less, or as a setting.
func TestCertifyCovers(t *testing.T) {
	t.Parallel()
	o := CertifyOptions{Method: "ibp", Norm: "linf", Eps: []float64{0.1, 0.25}, Radii: true, Queries: 9}
	there := Certify{Options: o, Queries: 9}
	for want, change := range map[string]func(*CertifyOptions){
		"":                                 func(o *CertifyOptions) { o.Eps, o.Queries = []float64{0.1, 0.15, 0.25}, 0 },
		"the shares at eps 0.25":           func(o *CertifyOptions) { o.Eps = []float64{0.1} },
		"9 queries instead of 8":           func(o *CertifyOptions) { o.Queries = 8 },
		"the largest budget of each query": func(o *CertifyOptions) { o.Radii = false },
		"method ibp instead of vote":       func(o *CertifyOptions) { o.Method = "vote" },
		"sigma 0 instead of 0.5; alpha 0 instead of 0.01":   func(o *CertifyOptions) { o.Sigma, o.Alpha = 0.5, 0.01 },
		"norm linf instead of l2":                           func(o *CertifyOptions) { o.Norm = "l2" },
		"sample false instead of true; seed 0 instead of 3": func(o *CertifyOptions) { o.Sample, o.Seed = true, 3 },
	} {
		now := o
		change(&now)
		if got := strings.Join(Certify{Options: now}.Covers(there), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	fewer := Certify{Options: CertifyOptions{Samples: 100}}.Covers(Certify{Options: CertifyOptions{Samples: 1000}})
	if len(fewer) != 1 || fewer[0] != "1000 samples instead of 100" {
		t.Errorf("%q", fewer)
	}
}
