package optim

import (
	"math"
	"testing"
)

// The rates of PyTorch 1.13's OneCycleLR (max_lr 0.1, 20 steps, pct_start 0.3).
func TestOneCycle(t *testing.T) {
	t.Parallel()
	want := []float64{0.004, 0.0131671842700025, 0.0371671842700025, 0.0668328157299975, 0.0908328157299975, 0.1, 0.0987464006235087, 0.0950484632013474, 0.089091617757105, 0.0811745653949763, 0.0716943001791301, 0.0611262021936289, 0.0500002, 0.0388741978063711, 0.0283060998208699, 0.0188258346050237, 0.010908782242895, 0.00495193679865263, 0.00125399937649126, 4e-07}
	s := Schedule{Keys: OneCycle{Rise: 0.3, StartFactor: 25, EndFactor: 1e4}, Base: 0.1, Total: len(want)}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got := s.LR(i); math.Abs(got-w) > 1e-14 {
			t.Errorf("step %d: %v, want %v", i, got, w)
		}
	}
	for _, total := range []int{1, 2, 3} {
		s.Total = total
		for i := range total + 1 {
			if lr := s.LR(i); !(lr > 0 && lr <= 0.1) {
				t.Errorf("step %d of %d: %v", i, total, lr)
			}
		}
	}
	s.Warmup = 3
	if s.Check() == nil {
		t.Error("a warm-up is accepted")
	}
}

// The rates of PyTorch 1.13's ReduceLROnPlateau (mode max, threshold_mode abs).
func TestPlateau(t *testing.T) {
	t.Parallel()
	scores := []float64{0.5, 0.505, 0.509, 0.52, 0.52, 0.52, 0.52, 0.52, 0.52, 0.52, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6}
	want := []float64{0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02}
	k := Plateau{Factor: 0.5, Patience: 1, MinDelta: 0.01, Cooldown: 1, MinLR: 0.02}
	var s PlateauState
	for i, score := range scores {
		k.Look(&s, score)
		if got := k.Lower(0.1, s); math.Abs(got-want[i]) > 1e-15 {
			t.Errorf("after score %d: %v, want %v", i, got, want[i])
		}
	}
	if got := k.Lower(0.001, s); got != 0.001 { // of a warm-up
		t.Errorf("a rate below min_lr becomes %v", got)
	}
}
