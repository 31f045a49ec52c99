package export

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/embed/store"
	"tercet/internal/evaluate"
	"tercet/internal/vectors"
)

type embeddings struct {
	base.Subject
	out, format string
	force       bool
	changed     func(string) bool
}

func newEmbeddings(s *base.Streams) *cobra.Command {
	var o embeddings
	return base.Command{
		Use:   "embeddings RUN|FOLDER --out FILE",
		Short: "Write embeddings for numpy, faiss, cuVS and other search programs",
		Long: `
Writes the embeddings of a run, or of a folder written by tercet embed, in formats of
search programs:

  npy           float32, of numpy
  fbin, u8bin   of big-ann-benchmarks, DiskANN and cuVS: float32, or bytes
  fvecs, bvecs  of TEXMEX and faiss: float32, or bytes

FILE.labels.npy gets the label of each row, and FILE.items.csv its item, file, label and
class. The byte formats quantize values to 256 levels between the overall minimum and
maximum, and the command prints the scale. Integers from 0 to 255 are kept unchanged.

docs/large-galleries.md describes the file layouts.`,
		Examples: []base.Example{
			{Why: "the test images of a run, for faiss", Line: "tercet export embeddings runs/first --out X.fvecs"},
			{Why: "a folder of tercet embed, for DiskANN and cuVS", Line: "tercet export embeddings vectors --out X.fbin"},
		},
		Args:  cobra.ExactArgs(1),
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringVarP(&o.out, "out", "o", "", "write to `FILE`, with FILE.labels.npy and FILE.items.csv")
			fs.StringVar(&o.format, "format", "", "format of FILE: "+strings.Join(vectors.Written(), ", ")+" (default: as its name ends)")
			o.AddCheckpoint(cmd)
			base.AddSplit(fs, &o.Set, "test", "which images of a run: test, validation or train")
			o.AddLimit(cmd)
			fs.BoolVar(&o.force, "force", false, "replace existing files with other content")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, args []string) error { return o.write(ctx, s, args[0]) },
	}.Build()
}

// check refuses options that do not go together, and fills in the format.
func (o *embeddings) check(from string) error {
	if o.out == "" {
		return base.Usagef("say where to write: --out FILE")
	}
	known := strings.Join(vectors.Written(), ", ")
	if o.format == "" {
		if o.format = vectors.FormatOf(o.out); o.format == "" {
			return base.Usagef("--out %s does not end in a format; give --format, one of %s", o.out, known)
		}
	}
	if !slices.Contains(vectors.Written(), o.format) {
		return base.Usagef("the format %q is not written; --format takes %s", o.format, known)
	}
	if ends := vectors.FormatOf(o.out); ends != "" && ends != o.format {
		return base.Usagef("--out %s ends in another format than --format %s: readers go by the end of the name", o.out, o.format)
	}
	if err := base.CheckSplit(o.Set, o.Checkpoint); err != nil {
		return err
	}
	for _, path := range evaluate.ExportPaths(o.out) {
		if err := base.Writable(path); err != nil {
			return err
		}
		if err := base.NotInput("--out", path, from); err != nil {
			return err
		}
	}
	return nil
}

func (o *embeddings) write(ctx context.Context, s *base.Streams, from string) error {
	if err := o.check(from); err != nil {
		return err
	}
	e, err := o.read(ctx, s, from)
	if err != nil {
		return base.RunError(err)
	}
	return base.Export(s, e, o.out, o.format, "text", o.force)
}

func (o *embeddings) read(ctx context.Context, s *base.Streams, from string) (*evaluate.Exportable, error) {
	if store.Holds(from) {
		if given := base.Given(o.changed, "checkpoint", "split", "limit"); given != "" {
			return nil, base.Usagef("%s: only for runs, but %s is a folder of embeddings", given, from)
		}
		return evaluate.OfFolder(from)
	}
	o.Run = from
	r, err := o.OpenNoted(s)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	view := &base.Stages{Streams: s}
	defer view.Close()
	e, err := r.Embed(ctx, o.Checkpoint, o.Set, o.Limit, view.Say)
	if err != nil {
		return nil, err
	}
	return evaluate.OfRun(e), nil
}
