package optim

import (
	"math"
	"strings"
	"testing"
)

// The oracle is the formula of half a cosine, written out for each part.
func TestExtendedSchedules(t *testing.T) {
	half := func(done float64) float64 { return 0.1 + (1-0.1)*(1+math.Cos(math.Pi*done))/2 }
	plain := Schedule{Keys: Cosine{MinLR: 0.1}, Base: 1, Warmup: 2, Total: 30, PerEpoch: 5}
	first := func(step int) float64 {
		if step < 2 {
			return float64(step+1) / 2
		}
		return half(float64(step-2) / 8)
	}
	for then, after := range map[string]func(step int) float64{
		Keep:    func(int) float64 { return first(9) },
		Restart: func(step int) float64 { return half(float64(step-10) / 20) },
		Stretch: func(step int) float64 { return half(float64(step-2) / 28) },
	} {
		e := Extended{plain, []Extension{{10, then}}}
		for step := range 30 {
			want := first(step)
			if step >= 10 {
				want = after(step)
			}
			if got := e.LR(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: step %d: %v, want %v", then, step, got, want)
			}
		}
	}
	twice := Extended{plain, []Extension{{10, Restart}, {20, Keep}}}
	if got, want := twice.LR(25), half(9./10); math.Abs(got-want) > 1e-12 {
		t.Errorf("kept after a restart: %v, want %v", got, want)
	}
	if never := (Extended{Schedule: plain}); never.LR(17) != plain.LR(17) {
		t.Error("a run that was not lengthened has its plain schedule")
	}
}

func TestFollows(t *testing.T) {
	s := Schedule{Keys: Cosine{}, Base: 1, Total: 10, PerEpoch: 5}
	if !s.Follows(20) || s.Follows(10) {
		t.Error("a cosine follows the length of the run")
	}
	for _, name := range []string{"constant", "step"} {
		c, ok := Schedules.Lookup(name)
		if s.Keys = c.Defaults; !ok || s.Follows(20) {
			t.Errorf("%s does not", name)
		}
	}
}

func TestParseExtensions(t *testing.T) {
	if list, err := ParseExtensions([]string{"2 keep", "4 stretch"}, 6); err != nil || len(list) != 2 || list[1] != (Extension{4, Stretch}) {
		t.Errorf("%v %v", list, err)
	}
	for text, want := range map[string]string{"2": "former length", "2 slow": "former length", "x keep": "former length", "0 keep": "former length", "2 keep|2 keep": "rising", "6 keep": "shorter"} {
		if _, err := ParseExtensions(strings.Split(text, "|"), 6); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
