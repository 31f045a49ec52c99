package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/engine/adversary"
	"tercet/internal/engine/adversary/hardness"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/par"
	"tercet/internal/rng"
)

// defenses are one of each kind, with whatever draws or remembers.
func defenses(t *testing.T) map[string]func() adversary.Defense {
	pgd := adversary.Training()
	pgd.Eps, pgd.Step, pgd.Iterations, pgd.Start = 0.2, 0.05, 3, adversary.FromRandom
	made := func(d adversary.Defense, err error) adversary.Defense {
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	hm := func(v adversary.Implementation, change func(o *adversary.HMOptions)) adversary.Defense {
		o, err := adversary.HMDefaults(v, 0.2)
		if err != nil {
			t.Fatal(err)
		}
		o.PGD, o.Mine = pgd, mine.Options{Layout: mine.Pairs, Margin: 0.2, AnyRow: true}
		change(&o)
		return made(adversary.NewHM(o))
	}
	return map[string]func() adversary.Defense{
		"est":    func() adversary.Defense { return made(adversary.NewEST(adversary.ESTOptions{PGD: pgd, Eps: 1e-6})) },
		"act":    func() adversary.Defense { return made(adversary.NewACT(adversary.ACTOptions{PGD: pgd})) },
		"minmax": func() adversary.Defense { return made(adversary.NewMinMax(adversary.MinMaxOptions{PGD: pgd})) },
		"hm lga, ics": func() adversary.Defense {
			return hm(adversary.Paper, func(o *adversary.HMOptions) { o.ICS.Lambda, o.Narrow = 0.5, true })
		},
		"hm boost, published": func() adversary.Defense {
			return hm(adversary.Robrank, func(o *adversary.HMOptions) {
				o.Destination = hardness.Destination{Name: "boost", Sampler: "semihard", Xi: 0.1, U: 1}
			})
		},
		"free": func() adversary.Defense {
			k := adversary.FreeKeys{Destination: adversary.Target{Name: "lga", Options: hardness.Gradual{}}, Replays: 4}
			return made(k.New(adversary.Setting{Side: 8, Margin: 0.2, Miner: "random", Mine: mine.Options{Layout: mine.Pairs, Margin: 0.2, AnyRow: true}}))
		},
		"ibp": func() adversary.Defense {
			return made(adversary.IBPKeys{Eps: 0.1, Kappa: 0.5, Margin: 1, WarmUp: 2, Ramp: 5}.New(adversary.Setting{}))
		},
		"hm, batch statistics": func() adversary.Defense {
			return hm(adversary.Paper, func(o *adversary.HMOptions) {
				o.Destination = hardness.Destination{Name: "random"}
				o.PGD.Mode = nn.BatchStats
			})
		},
	}
}

// withoutBatchNorm gives tr another network.
func withoutBatchNorm(t *testing.T, tr *Trainer) {
	model, err := nn.Build(nn.Spec{Name: "mlp", Height: 8, Width: 8, Channels: 1, Units: 8, Embedding: 4, Normalize: true}, rng.New(3, "init"))
	if err != nil {
		t.Fatal(err)
	}
	tr.Model = model
	if tr.Optimizer, err = optim.New(optim.Config{Name: "adam"}, model.Params()); err != nil {
		t.Fatal(err)
	}
}

// Every step of a defense draws again, and a run that was stopped continues with the
// same draws and the loss of the step before.
func TestDefensesResumeWithTheSameBits(t *testing.T) {
	defer par.SetThreads(0)
	for name, defense := range defenses(t) {
		change := func(tr *Trainer) {
			tr.Defense, tr.Steps, tr.LogEvery = defense(), 11, 0
			if name == "ibp" {
				withoutBatchNorm(t, tr)
			}
		}
		par.SetThreads(1)
		want := finalBytes(t, newRig(t, t.TempDir(), change))
		par.SetThreads(2)
		dir, stops := t.TempDir(), 0
		for {
			ctx, cancel := context.WithCancel(context.Background())
			r, n := newRig(t, dir, change), 0
			r.Progress = func(*State, float64) {
				if n++; n == 2 {
					cancel()
				}
			}
			err := r.Run(ctx)
			cancel()
			if err == nil {
				break
			}
			if !errors.Is(err, ErrInterrupted) {
				t.Fatalf("%s: %v", name, err)
			}
			stops++
		}
		got, err := os.ReadFile(filepath.Join(dir, "last.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		if stops != 5 || !bytes.Equal(got, want) {
			t.Errorf("%s: after %d stops the final checkpoint differs from an undisturbed run's", name, stops)
		}
	}
}

// A checkpoint without the state of its defense is refused, not taken for a first
// step.
func TestResumeWithoutTheStateOfTheDefense(t *testing.T) {
	dir := t.TempDir()
	plain := newRig(t, dir, func(tr *Trainer) { tr.Steps = 3 })
	finalBytes(t, plain)
	c, err := ReadCheckpoint(plain.path)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, t.TempDir(), func(tr *Trainer) { tr.Defense = defenses(t)["hm lga, ics"]() })
	if err := c.Resume(r.Trainer); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "metadata defense") {
		t.Error(err)
	}
}
