package metric

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/theory/measure"
	"tercet/internal/train"
)

func TestKeeper(t *testing.T) {
	notes := 0
	k := &keeper{dir: t.TempDir() + "/points", say: func(string, ...any) { notes++ }}
	var got record.GapResult
	if k.Load("a", &got) {
		t.Error("nothing is there")
	}
	want := record.GapResult{Gap: measure.EstimateOf([]float64{.1, .2, 1e-17}), Values: []float64{.1, .2, 1e-17}, MeanLoss: 1. / 3}
	if err := k.Store("a", &want, 2.5); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if !k.Load("a", &got) || got.MeanLoss != want.MeanLoss || got.Gap.CI95[0] != want.Gap.CI95[0] {
			t.Errorf("%+v", got)
		}
	}
	if k.spared != 5 || notes != 1 {
		t.Errorf("%g seconds, %d notes", k.spared, notes)
	}
	b, err := os.ReadFile(k.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"another program": strings.Replace(string(b), k.by(), "old", 1), "half a file": string(b[:len(b)/2]),
		"another schema": strings.Replace(string(b), record.MetricPointSchema, "tercet.eval/1", 1),
	} {
		if err := os.WriteFile(k.path("a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if k.Load("a", &got) {
			t.Errorf("%s is taken", name)
		}
	}
}

// An interruption is one, whatever wraps it, and says where what is done is.
func TestEnded(t *testing.T) {
	k := &keeper{dir: "runs/x/stability/points"}
	ctx, cancel := context.WithCancel(context.Background())
	if err := k.ended(ctx, nil); err != nil {
		t.Error(err)
	}
	if err := k.ended(ctx, measure.ErrInput); !errors.Is(err, data.ErrUnfit) {
		t.Error(err)
	}
	cancel()
	err := k.ended(ctx, errors.Join(errors.New("n+ = 320"), context.Canceled))
	if !errors.Is(err, train.ErrInterrupted) || !strings.Contains(err.Error(), k.dir) || strings.Contains(err.Error(), "320") {
		t.Error(err)
	}
	if err := k.ended(ctx, nil); err != nil {
		t.Error(err)
	}
}
