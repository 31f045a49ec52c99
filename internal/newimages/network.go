package newimages

import (
	"context"
	"fmt"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/nn"
	"tercet/internal/fsx"
	"tercet/internal/record"
	"tercet/internal/run"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// Network is a trained network with what images go through before.
type Network struct {
	Model  *nn.Model
	Data   data.Options // how its own images were opened; the zero value for weights alone
	Batch  int
	About  record.EmbedNetwork
	Source record.Source                             // of the run
	open   func(context.Context) (*wire.Sets, error) // the network's own images; nil for weights alone
	start  *record.StartWeights                      // of FromConfig
	config string                                    // of FromConfig, resolved
}

// weightsBatch is the batch size of weights without a config.
const weightsBatch = 64

// FromRun is the network of a run's checkpoint.
func FromRun(r *run.Run, checkpoint string) (*Network, error) {
	c, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	n := &Network{Data: wire.DataOptions(r.Config), Batch: r.Config.Eval.Batch}
	n.open = func(ctx context.Context) (*wire.Sets, error) { return ownSets(ctx, r) }
	n.Source = record.Source{Run: r.Dir, Config: r.Manifest.Config, Checkpoint: checkpoint, Step: c.State.Step}
	return n, n.load(c, r.CheckpointPath(checkpoint))
}

// FromWeights is the network of a checkpoint alone. Images are stretched to its size.
func FromWeights(path string) (*Network, error) {
	c, err := train.ReadCheckpoint(path)
	if err != nil {
		return nil, fmt.Errorf("%w (give a checkpoint of tercet train; a run begins with other weights by model.weights)", err)
	}
	n := &Network{Batch: weightsBatch, Source: record.Source{Config: c.Config, Step: c.State.Step}}
	return n, n.load(c, path)
}

func (n *Network) load(c *train.Checkpoint, path string) (err error) {
	if n.Model, err = c.LoadModel(); err != nil {
		return err
	}
	n.describe(path, "")
	n.About.SHA256, err = fsx.SHA256(path)
	return err
}

// describe fills About and the dimension, but for the SHA-256 of the weights.
func (n *Network) describe(path, spec string) {
	s := n.Model.Spec()
	n.About = record.EmbedNetwork{
		Name: s.Name, Weights: path, Dim: n.Model.Dim(), Input: [3]int{s.Height, s.Width, s.Channels},
		Normalized: s.Normalize, Transform: "vectors", Decoder: "none", Kernel: kernel.Setting(), Spec: spec,
	}
	if u, err := n.images(&table.Table{}); err == nil {
		n.About.Transform, n.About.Decoder = u.Transform(), u.Decoder()
	}
	n.Source.Dim = n.Model.Dim()
}

// images are those of a table as the network takes them.
func (n *Network) images(t *table.Table) (*data.Unseen, error) {
	s := n.Model.Spec()
	return data.NewUnseen(t, n.Data, s.Height, s.Width, s.Channels)
}

// Again loads the network that has made a folder of embeddings. A run that was trained
// further since is an error.
func Again(ctx context.Context, d *record.Embed) (*Network, error) {
	var n *Network
	switch {
	case d.Config != "":
		cfg, err := config.LoadBytes([]byte(d.Config), "the config in embed.json", nil)
		if err != nil {
			return nil, err
		}
		if n, err = FromConfig(ctx, cfg, d.Source.Set == ""); err != nil {
			return nil, err
		}
	case d.Source.Run == "":
		var err error
		if n, err = FromWeights(d.Network.Weights); err != nil {
			return nil, err
		}
	default:
		r, err := run.Open(d.Source.Run)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		if n, err = FromRun(r, d.Source.Checkpoint); err != nil {
			return nil, err
		}
	}
	if what := d.Network.Unlike(n.About); what != "" {
		return nil, fault.Unfit("the network of these embeddings is no longer what %s holds: %s; embed the images again", d.Network.Weights, what)
	}
	return n, nil
}

// ownSets are the images that a run was trained and tested on.
func ownSets(ctx context.Context, r *run.Run) (*wire.Sets, error) {
	sets, err := wire.OpenWith(ctx, r.Config, r.Elsewhere(data.Open), nil)
	if err != nil {
		return nil, err
	}
	return sets, r.SameData(ctx, sets)
}

// Split returns a split of the network's own images, those of its run or config.
func (n *Network) Split(ctx context.Context, name string) (Images, error) {
	if n.open == nil {
		return nil, fmt.Errorf("weights alone have no images")
	}
	sets, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	ds, err := sets.Pick(name)
	if err != nil {
		return nil, err
	}
	n.Source.Set = name
	return &split{ds, name, sets.Broken}, nil
}
