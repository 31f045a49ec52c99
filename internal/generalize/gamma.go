package generalize

import (
	"os"
	"path/filepath"

	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/run"
)

// measuredGamma is the largest change of a loss that retraining has shown of the weights
// at step, whose network is m: by stability.json, and by every retraining that is kept,
// whatever triplets it was evaluated by. Each is a lower estimate of the uniform stability,
// so that the largest is the best. nil where none counts.
func measuredGamma(r *run.Run, checkpoint string, step int, m *nn.Model) *float64 {
	var gamma *float64
	raise := func(v float64) {
		if gamma == nil || v > *gamma {
			gamma = &v
		}
	}
	for _, split := range []string{"test", "validation"} {
		var d record.Stability
		name := record.Source{Set: split}.File("stability")
		if run.ReadStored(r.Path(name), &d) && d.Schema == record.StabilitySchema && d.Source.Checkpoint == checkpoint && d.Source.Step == step {
			for _, k := range d.Kinds {
				if k.N > 0 && k.Kind != ReplaceUlp {
					raise(d.Gamma)
				}
			}
		}
	}
	t := &retraining{study: &study{run: r}, dir: r.Path("stability", "retrained")}
	dirs, err := os.ReadDir(t.dir)
	if err != nil || len(dirs) == 0 {
		return gamma
	}
	base := digest(m)
	for _, e := range dirs {
		var kept record.Retrained[record.RetrainKey, record.Replaced]
		if !run.ReadStored(filepath.Join(t.dir, e.Name(), "result.json"), &kept) || kept.Record.Movement == nil || kept.Record.Kind == ReplaceUlp {
			continue
		}
		if k := kept.Key; k.Base == base && k.Version == run.Version && k.Train == r.Manifest.Data.Train.Fingerprint && k.Config == t.config(e.Name()).Hash() {
			raise(kept.Record.Movement.LossMax)
		}
	}
	return gamma
}
