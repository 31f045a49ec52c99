package published

import (
	"strings"
	"testing"

	"tercet/internal/rundir"
	"tercet/internal/study/observe"
)

func TestPaperMatchValues(t *testing.T) {
	for _, x := range []struct {
		have string
		want any
		ok   bool
	}{
		{"null", nil, true}, {"0.2", nil, false}, {"null", "null", true},
		{"0.2", 0.2, true}, {"0.30196078431372547", 77.0 / 255, true}, {"8", 8, true}, {"8", 16, false}, {"0", 0, true}, {"0.0", 0, true},
		{"softhard", 0, false}, {"true", true, true}, {"false", true, false},
		{"softhard", "softhard", true}, {"softhard-strict", "softhard", false}, {"softhard-strict", "softhard*", true},
		{`"8/255"`, "8/255", true}, {`"../data/cub"`, "*/cub", true}, {"cub-act-seed-0", "cub-*-seed-*", true},
		{"cub", "cub-*", false}, {"a-b", "a*b*b", false}, {"", "*", true}, {"ab", "a**b", true}, {"a", "a*a", false},
	} {
		w := observe.Where{"key": x.want}
		if got := w.Fits(func(string) string { return x.have }); got != x.ok {
			t.Errorf("%q and %v: %v", x.have, x.want, got)
		}
	}
}

// A source that is not set takes the miner.
func TestPaperMatchSource(t *testing.T) {
	r := &rundir.Run{Labels: []rundir.Label{{Key: "defense.source", Value: "null"}, {Key: "miner.name", Value: "softhard"}}}
	fits := func(w observe.Where) bool { return w.Fits(func(key string) string { return publishedKey(r, key) }) }
	if !fits(observe.Where{"defense.source": []any{"softhard"}}) {
		t.Error("the miner is not the source")
	}
	if fits(observe.Where{"defense.anchor": []any{nil}}) {
		t.Error("a key that the run does not have has a value")
	}
}

// HM whose destination is its source crafts nothing, also where the miner is the
// source.
func TestEtaOfTheSourcesOwnDestination(t *testing.T) {
	for _, x := range []struct {
		source, destination string
		want                int
	}{{"null", "softhard", 0}, {"softhard", "softhard", 0}, {"null", "semihard", 8}, {"semihard", "softhard", 8}, {"null", "lga", 8}} {
		r := &rundir.Run{Labels: []rundir.Label{{Key: "defense.source", Value: x.source}, {Key: "miner.name", Value: "softhard"}, {Key: "defense.destination.name", Value: x.destination}, {Key: "defense.pgd.steps", Value: "8"}}}
		if got := etaOf(r); got != x.want {
			t.Errorf("source %s, destination %s: eta %d, want %d", x.source, x.destination, got, x.want)
		}
	}
}

func TestPaperTableRefuses(t *testing.T) {
	match := observe.Where{"seed": 0}
	for want, table := range map[string]*Table{
		"a table needs columns and rows":                          {},
		`unknown column "R@3"; valid: R@1, R@2,`:                  {Columns: []string{"R@3"}, Rows: []Row{{Label: "a"}}},
		"column R@1 is listed twice":                              {Columns: []string{"R@1", "R@1"}, Rows: []Row{{Label: "a"}}},
		"row 1: label is missing":                                 {Columns: []string{"R@1"}, Rows: []Row{{}}},
		"row 1 (a): eta is -1":                                    {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Eta: -1}}},
		"row 1 (a): match names no config keys":                   {Columns: []string{"R@1"}, Rows: []Row{{Label: "a"}}},
		"row 1 (a): match: seed has an empty list":                {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: observe.Where{"seed": []any{}}}}},
		"row 1 (a): match: seed: map[] is neither a text":         {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: observe.Where{"seed": map[string]any{}}}}},
		"row 1 (a): paper has 2 numbers for 1 columns":            {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: match, Paper: []any{1, 2}}}},
		"row 1 (a): paper: R@1 is 101; it lies between 0 and 100": {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: match, Paper: []any{101}}}},
		"row 1 (a): paper: TMA is 56.7; it lies between -1 and 1": {Columns: []string{"TMA"}, Rows: []Row{{Label: "a", Match: match, Paper: []any{56.7}}}},
		"row 1 (a): paper: R@1 is high, not a number":             {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: match, Paper: []any{"high"}}}},
		"row 1 (a): paper is none; write a list":                  {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: match, Paper: "none"}}},
		"row 1 (a): paper is 3; write a list":                     {Columns: []string{"R@1"}, Rows: []Row{{Label: "a", Match: match, Paper: 3}}},
	} {
		if err := table.check(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
