package newimages

import (
	"context"
	"encoding/json"

	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/wire"
)

// FromConfig is the network of a config with the weights of its file, without any training.
// unseen says that images of the config's data are not meant: its shape is that of
// data.transform or data.size then, as far as they say one.
func FromConfig(ctx context.Context, cfg *config.Config, unseen bool) (*Network, error) {
	n := &Network{Data: wire.DataOptions(cfg), Batch: cfg.Eval.Batch}
	n.open = func(ctx context.Context) (*wire.Sets, error) { return wire.OpenData(ctx, cfg) }
	shape, err := n.shape(ctx, unseen)
	if err != nil {
		return nil, err
	}
	if n.Model, n.start, err = wire.Pretrained(cfg, shape); err != nil {
		return nil, err
	}
	text, err := cfg.Resolved()
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(n.Model.Spec())
	if err != nil {
		return nil, err
	}
	n.config = string(text)
	n.Source = record.Source{Config: cfg.Hash()}
	n.describe(cfg.Model.Weights, string(spec))
	n.About.SHA256 = n.start.SHA256
	return n, nil
}

// shape is that of the images that the network takes: (height, width, channels).
func (n *Network) shape(ctx context.Context, unseen bool) (s [3]int, err error) {
	if side := n.Data.Size; unseen && (side > 0 || n.Data.Transform != nil) {
		if s = [3]int{side, side, 3}; n.Data.Color == "grey" {
			s[2] = 1
		}
		if crop := n.Data.Crop; crop > 0 {
			s[0], s[1] = crop, crop
		}
		if n.Data.Transform != nil {
			s[0], s[1], err = n.Data.Transform.Shape()
		}
		return s, err
	}
	sets, err := n.open(ctx)
	if err != nil {
		return s, err
	}
	n.open = func(context.Context) (*wire.Sets, error) { return sets, nil }
	s[0], s[1], s[2] = sets.Train.Shape()
	return s, nil
}
