package generalize

import (
	"context"

	"tercet/internal/engine/nn"
	"tercet/internal/record"
	"tercet/internal/run"
)

// movementForm counts the forms that Movement has had.
const movementForm = 3

// key is that of a replacement under a config; base is what is compared with.
func (s *study) key(config string, base *nn.Model, p record.Replacement) record.RetrainKey {
	return record.RetrainKey{
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
	list := make([]again[record.RetrainKey], len(plan))
	for i, p := range plan {
		c := t.config(replacementName(p))
		list[i] = again[record.RetrainKey]{c, t.key(c.Hash(), t.base, p), alterImage(p, t.pooled(p))}
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
