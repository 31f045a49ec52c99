package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/newimages"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/text"
)

type options struct {
	base.Subject
	base.ConfigFlags
	weights string
	out     string
	root    string
	labels  string
	role    string
	part    int
	batch   int
	dtype   string
	format  string
	force   bool
	changed func(flag string) bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "embed [IMAGES...]",
		Short: "Embed any images; search, eval and cluster read the result",
		Long: `
Embeds images with a run's network, or with a network trained by another program. IMAGES
can be a folder (searched recursively), image files, a text file with one path per line, a
csv file with a column path (and optionally label and sequence), a table of a dataset with
roles and boxes, or an items.csv written by embed. Images need no labels and need not
belong to the run's data. In a folder, the label of an image is the name of its immediate
folder. Without IMAGES it embeds a split of the run or config.

--config takes the network, its model.weights (torchvision, timm) and data.transform from
a config instead of a run. With model.head: none the embedding is the network's features.

Images are resized to the network's input in the same way as the run's images. An
unreadable image in IMAGES gets no row, and embed.json lists it. Unreadable images in a
split of a config are an error, unless --skip-broken is given.

The folder of --out gets embeddings.npy (float32, N x D), items.csv (path, label, role,
sequence, box and size of each row) and embed.json (network, weights, transform). Above
--part rows there are several numbered npy files, as faiss and autofaiss read them. The
same command resumes an interrupted embedding, with bit-identical results.`,
		Examples: []base.Example{
			{Why: "the test images of a run", Line: "tercet embed --run runs/first --out tested"},
			{Why: "photos in one folder per class", Line: "tercet embed --run runs/first photos --out embedded"},
			{Why: "features of photos from a network trained by torchvision", Line: "tercet embed --config resnet18.yaml photos --out features"},
			{Why: "two unlabeled images", Line: "tercet embed --run runs/first photos/class-0/0.png photos/class-0/1.png --out two"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  cobra.ArbitraryArgs,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			o.AddRun(cmd)
			fs.StringVarP(&o.Path, "config", "c", "", "config `FILE` instead of a run: its network with its model.weights, without training")
			o.AddSet(cmd)
			o.AddSkipBroken(cmd)
			fs.StringVar(&o.weights, "weights", "", "checkpoint `FILE`.safetensors instead of a run; images are stretched to its input size")
			fs.StringVar(&o.root, "root", "", "`FOLDER` that the paths of a list are relative to (default: the folder of the list)")
			base.Words(fs, &o.labels, "labels", "folder", []string{"folder", "none"}, "labels of images in folders; folder: the name of the image's folder; none: no labels")
			base.Words(fs, &o.role, "role", "both", []string{"query", "gallery", "both"}, "role in eval of images without a listed role: query, gallery or both")
			base.Group(fs, "Input")
			fs.StringVarP(&o.out, "out", "o", "", "`FOLDER` to write to")
			fs.IntVar(&o.part, "part", 1_000_000, "maximum number of rows per file; 0 writes one file")
			base.Words(fs, &o.dtype, "dtype", "float32", []string{"float32", "float16"}, "number format of the files: float32 or float16")
			fs.IntVar(&o.batch, "batch", 0, "batch size; 0: the run's eval.batch, or 64")
			fs.BoolVar(&o.force, "force", false, "replace existing embeddings of other images, weights or options")
			base.AddFormat(fs, &o.format)
			base.Group(fs, "Output")
			cmd.MarkFlagsMutuallyExclusive("run", "weights", "config")
			base.Least(fs, 0, "part", "batch")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, args []string) error { return run(ctx, s, o, args) },
	}.Build()
}

// check refuses options that do not go together.
func (o *options) check(args []string) error {
	switch {
	case o.Run == "" && o.weights == "" && o.Path == "":
		return base.Usagef("name the network: --run DIRECTORY, --weights FILE.safetensors, or --config FILE with model.weights")
	case o.Path == "" && base.Given(o.changed, "set", "skip-broken") != "":
		return base.Usagef("%s: changes keys of --config; name it", base.Given(o.changed, "set", "skip-broken"))
	case o.Path != "" && o.changed("checkpoint"):
		return base.Usagef("--checkpoint is of a run; the weights of --config are its model.weights")
	case o.out == "":
		return base.Usagef("name the folder to write to: --out FOLDER")
	case o.weights != "" && len(args) == 0:
		return base.Usagef("name the images: a folder, a list (.csv, .txt) or image files; weights alone have none")
	case len(args) > 0 && o.changed("split"):
		return base.Usagef("--split is of the own images of the run or config: leave it out, or the IMAGES")
	case len(args) == 0 && base.Given(o.changed, "root", "labels", "role") != "":
		return base.Usagef("%s: only for IMAGES on the command line; give some", base.Given(o.changed, "root", "labels", "role"))
	}
	if err := base.CheckSplit(o.Set, o.Checkpoint); err != nil {
		return err
	}
	return base.Placeable(filepath.Join(o.out, "embed.json"))
}

var roles = map[string]table.Role{"query": table.Query, "gallery": table.Gallery, "both": table.Test}

func run(ctx context.Context, s *base.Streams, o options, args []string) error {
	if err := o.check(args); err != nil {
		return err
	}
	n, err := o.network(ctx, s, len(args) > 0)
	if err != nil {
		return base.RunError(err)
	}
	im, err := o.images(ctx, s, n, args)
	if err != nil {
		return base.RunError(err)
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	d, done, err := n.Embed(ctx, im, newimages.Options{
		Dir: o.out, Batch: o.batch, Replace: o.force,
		Layout: store.Layout{Part: o.part, Half: o.dtype == "float16"},
	}, view.Say)
	view.Close()
	if errors.Is(err, store.ErrOther) {
		return base.Usagef("%w; give another --out, or --force to replace them", err)
	}
	if err != nil {
		return base.RunError(err)
	}
	if done {
		s.Note("%s is up to date", o.out)
	}
	if len(d.Broken) > 0 {
		s.Note("warning: no row for %s that cannot be read, listed in %s/embed.json; the first: %s", text.Count(len(d.Broken), "image"), o.out, d.Broken[0].Error)
	}
	return s.Result(d, func(w io.Writer) error { return filesTable(o.out, d).Write(w, o.format) })
}

// network loads what embeds.
func (o *options) network(ctx context.Context, s *base.Streams, unseen bool) (*newimages.Network, error) {
	if o.Path != "" {
		cfg, err := o.Load(s)
		if err != nil {
			return nil, err
		}
		return newimages.FromConfig(ctx, cfg, unseen)
	}
	if o.weights != "" {
		return newimages.FromWeights(o.weights)
	}
	r, err := o.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return newimages.FromRun(r, o.Checkpoint)
}

func (o *options) images(ctx context.Context, s *base.Streams, n *newimages.Network, args []string) (newimages.Images, error) {
	if len(args) == 0 {
		return n.Split(ctx, o.Set)
	}
	t, err := newimages.List(args, newimages.ListOptions{Root: o.root, Labels: o.labels == "folder", Role: roles[o.role]})
	if err != nil {
		return nil, err
	}
	for _, note := range t.Notes {
		s.Note("%s", note)
	}
	return n.Images(t)
}

// filesTable shows the files of a folder.
func filesTable(dir string, d *record.Embed) *render.Table {
	t := &render.Table{
		Title:   fmt.Sprintf("%s: embeddings of %s by %s", dir, text.Plural(d.Source.Items, "image", "images"), d.Network.Weights),
		Columns: []render.Column{{Name: "file"}, {Name: "holds"}},
	}
	for _, f := range d.Files {
		t.Rows = append(t.Rows, []render.Cell{render.Text(f.Name), render.Text(fmt.Sprintf("embeddings, (%d, %d), %s", f.Rows, d.Network.Dim, d.Format))})
	}
	classes := "no labels"
	if d.Source.Classes > 0 {
		classes = text.Plural(d.Source.Classes, "class", "classes")
	}
	t.Rows = append(t.Rows,
		[]render.Cell{render.Text(d.Items.Name), render.Text("path, label, role and size of each row; " + classes)},
		[]render.Cell{render.Text("embed.json"), render.Text("network, weights, transform and fingerprint")})
	return t
}
