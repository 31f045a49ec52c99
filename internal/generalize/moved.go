package generalize

import (
	"context"

	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/run"
)

// retrainKey is what the result of one replacement depends on.
type retrainKey struct {
	Config   string             `json:"config"` // hash of the retrained config
	Version  string             `json:"version"`
	Base     string             `json:"base"` // weights that it is compared with, and kernels
	Train    string             `json:"train"`
	Probe    string             `json:"judges"`
	Triplets int                `json:"triplets"`
	Seed     uint64             `json:"seed"`
	Replaced record.Replacement `json:"replaced"`
	Movement int                `json:"movement,omitempty"` // movementForm
}

// movementForm counts the forms that Movement has had.
const movementForm = 3

// key is that of a replacement under a config; base is what is compared with.
func (s *study) key(config string, base *nn.Model, p record.Replacement) retrainKey {
	return retrainKey{
		Config: config, Version: run.Version, Base: digest(base), Train: s.run.Manifest.Data.Train.Fingerprint,
		Probe: s.probe.print, Triplets: s.o.Triplets, Seed: s.o.Seed, Replaced: p, Movement: movementForm,
	}
}

// moved returns how far each replacement moves the network.
func (t *retraining) moved(ctx context.Context, plan []record.Replacement) ([]record.Replaced, error) {
	before, err := t.probe.stand(ctx, t.base, t.p.Say.Of("embed"))
	if err != nil {
		return nil, err
	}
	list := make([]again[retrainKey], len(plan))
	for i, p := range plan {
		c := t.config(replacementName(p))
		list[i] = again[retrainKey]{c, t.key(c.Hash(), t.base, p), alterImage(p, t.pooled(p))}
	}
	return retrain(ctx, t, list, func(i int, r *run.Run, err error) (record.Replaced, error) {
		out := record.Replaced{Replacement: plan[i]}
		m, status, message, err := trainedAgain(r, err)
		out.Status, out.Message, out.Seconds = status, message, r.Manifest.Seconds
		if m == nil || err != nil {
			return out, err
		}
		now, err := t.probe.stand(ctx, m, func(int, int) {})
		if err != nil {
			return out, err
		}
		movement := t.probe.compare(before, now)
		out.Movement = &movement
		return out, nil
	})
}
