package robustness

import (
	"context"
	"fmt"

	"tercet/internal/attack/worst"
	"tercet/internal/data"
	"tercet/internal/progress"
	"tercet/internal/run"
)

// OtherNetwork is the name of a run's last weights in a document.
func OtherNetwork(r *run.Run) (string, error) {
	step, err := r.Step("last")
	return fmt.Sprintf("%s@%d", r.Manifest.Config, step), err
}

// otherNetworks embeds the images of e by the networks of other runs. Their images have to be
// the same ones.
func otherNetworks(ctx context.Context, p WorstPlan, e *run.Embedded, say progress.Say) ([]worst.Other, error) {
	var out []worst.Other
	for _, r := range p.Others {
		o, g, err := gallery(ctx, r, "last", p.Set, say)
		if err != nil {
			return nil, err
		}
		if o.Source.Fingerprint != e.Source.Fingerprint {
			return nil, fmt.Errorf("%w: %s images of %s are not those of %s: images made for its network are of no use here", data.ErrUnfit, p.Set, r.Dir, e.Run.Dir)
		}
		out = append(out, worst.Other{Model: o.Model, Gallery: g, Plain: r.Config.Defense.Name == "none"})
	}
	return out, nil
}
