package data

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/data/annotated"
	"tercet/internal/data/npy"
	"tercet/internal/lists"
	"tercet/internal/noise"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/text"
	"tercet/internal/wire"
	"tercet/internal/wire/inspect"
)

type inspectOptions struct {
	base.ConfigFlags
	embeddings string
	labels     string
	column     string // of a csv file of labels
	noise      string
	format     string
	source     string // by name, with root in place of a config
	root       string
	partial    bool
	noImages   bool
}

func newInspect(s *base.Streams) *cobra.Command {
	var o inspectOptions
	return base.Command{
		Use:   "inspect [FILE.yaml | --source NAME ROOT]",
		Paged: true,
		Short: "Count and check the data of a config, or of npy files",
		Long: `
Reads all data of a config and prints for each set the number of items and classes, items
per class, mean and standard deviation of the pixels, duplicates, duplicates with
different labels, constant images and the fingerprint. It also prints which items the sets
share, and how much of the training set the sampler draws in its first epoch. With
--embeddings X.npy --labels Y.npy it does the same for vectors from any tool.
With noise on labels, pairs or triplets it prints the target rate, the realized rate and
the share of wrong balanced pairs; with predefined pairs, their graph. --noise replaces
the noise of the config, to try other settings. The exit code is 3 if the sampler cannot
use the data; everything else is still printed.

--source NAME ROOT inspects a dataset without a config. For cub, cars, sop, inshop and
table it reads the annotation: images, classes and class sizes of each role. They must
match the published counts, unless --partial is given. Then it decodes every image and
counts color modes, EXIF orientations, identical files and unreadable images; --no-images
skips this. Unreadable images are listed. They are an error, or with --skip-broken a
warning.`,
		Examples: []base.Example{
			{Why: "a config's data", Line: "tercet data inspect configs/demo.yaml --set data.glyphs.per_class=5"},
			{Why: "the effect of noise on labels", Line: "tercet data inspect --set data.glyphs.classes=20 --set batch.pairs=16 --noise sln,effective=0.1"},
			{Why: "for a script", Line: "tercet data inspect --set data.glyphs.classes=20 --set batch.pairs=16 --json"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  o.arguments,
		Flags: func(cmd *cobra.Command) {
			o.AddFlags(cmd)
			o.AddSkipBroken(cmd)
			fs := cmd.Flags()
			fs.StringVar(&o.noise, "noise", "", "noise `KIND[,KEY=VALUE...]` instead of the config's, such as sln,effective=0.1")
			fs.StringVar(&o.embeddings, "embeddings", "", "npy `FILE` of embeddings (N, D) from any tool")
			fs.StringVar(&o.labels, "labels", "", "npy or csv `FILE` of N labels")
			fs.StringVar(&o.column, "label-column", "", base.LabelColumnUsage)
			base.AddFormat(fs, &o.format)
			fs.StringVar(&o.source, "source", "", "`NAME` of a dataset; the argument is its folder (for table: its csv file)")
			fs.BoolVar(&o.partial, "partial", false, "with --source: accept a part of the dataset")
			fs.BoolVar(&o.noImages, "no-images", false, "read only the annotation")
			base.Exclusive(cmd, "source", "config", "embeddings")
			base.Exclusive(cmd, "no-images", "embeddings", "noise", "skip-broken")
			base.Exclusive(cmd, "embeddings", "config", "skip-broken", "set", "noise")
			cmd.MarkFlagsRequiredTogether("embeddings", "labels")
		},
		Run: func(ctx context.Context, _ []string) error { return runDataInspect(ctx, s, o) },
	}.Build()
}

// arguments takes the folder of a source, or a config.
func (o *inspectOptions) arguments(cmd *cobra.Command, args []string) error {
	switch {
	case o.source == "" && o.partial:
		return base.Usagef("--partial needs --source; in a config, set data.partial: true")
	case o.source == "":
		return o.OneConfig(cmd, args)
	case len(args) != 1:
		return base.Usagef("--source %s takes the folder of the data, and nothing else; got %d arguments", o.source, len(args))
	}
	o.root = args[0]
	return nil
}

// sourceSets are the settings that --source stands for.
func (o *inspectOptions) sourceSets() []string {
	if o.source == "" {
		return nil
	}
	key := "data.root="
	if o.source == "table" {
		key = "data.table="
	}
	out := []string{"data.name=" + o.source, key + o.root}
	if o.partial {
		out = append(out, "data.partial=true")
	}
	return out
}

func runDataInspect(ctx context.Context, s *base.Streams, o inspectOptions) error {
	defer base.SaveMemory()()
	doc, err := inspected(ctx, s, o)
	if doc == nil {
		return err
	}
	s.Warn(doc.Warnings...)
	show := dataTable
	if doc.Annotation != nil {
		show = annotationTable
	}
	if e := s.Result(doc, func(w io.Writer) error { return show(doc).Write(w, o.format) }); e != nil {
		return e
	}
	return err // of the sampler
}

func inspected(ctx context.Context, s *base.Streams, o inspectOptions) (*printed.Inspected, error) {
	if o.embeddings != "" && o.Path != "" {
		return nil, base.Usagef("give a config or --embeddings, not both")
	}
	if o.embeddings != "" {
		doc, err := inspect.InspectFiles(ctx, o.embeddings, npy.LabelFile{Path: o.labels, Column: o.column})
		return doc, base.LabelsError(err)
	}
	if o.noise != "" {
		o.Sets = append(slices.Clone(o.Sets), "noise="+noiseSection(o.noise))
	}
	o.Sets = append(o.sourceSets(), o.Sets...)
	cfg, err := loadData(s, &o.ConfigFlags)
	if err != nil {
		return nil, err
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	if _, ok := cfg.Data.Options.(annotated.Source); o.noImages || ok && o.source != "" {
		doc, err := inspect.Annotation(ctx, cfg, !o.noImages, view.Say)
		var counts *annotated.CountsError
		if o.source != "" && errors.As(err, &counts) {
			err = &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("%s with --partial", counts.Text)}
		}
		return doc, err
	}
	return inspect.Inspect(ctx, cfg, view.Say)
}

// noiseSection writes KIND,KEY=VALUE,... as a section of a config.
func noiseSection(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return text
	}
	kind, rest, more := strings.Cut(text, ",")
	if more {
		rest = ", " + strings.ReplaceAll(strings.ReplaceAll(rest, ",", ", "), "=", ": ")
	}
	return "{kind: " + kind + rest + "}"
}

// dataTable shows the sets beside each other.
func dataTable(d *printed.Inspected) *render.Table {
	t := &render.Table{Title: fmt.Sprintf("%s: %s", d.Config, d.Name), Columns: []render.Column{{Name: "what"}}}
	if d.Embeddings != "" {
		t.Title = d.Embeddings
	}
	var sets []*printed.SetStats
	for _, s := range []struct {
		name  string
		stats *printed.SetStats
	}{{"train", d.Train}, {"validation", d.Validation}, {"test", d.Test}, {"vectors", d.Vectors}} {
		if s.stats != nil {
			sets = append(sets, s.stats)
			t.Columns = append(t.Columns, render.Column{Name: s.name})
		}
	}
	for _, r := range rows(sets[0].Lengths != nil, len(sets[0].ChannelMean) > 1) {
		row := []render.Cell{render.Text(r.what)}
		for _, s := range sets {
			row = append(row, render.Text(r.show(s)))
		}
		t.Rows = append(t.Rows, row)
	}
	for _, o := range d.Overlaps {
		t.Notes = append(t.Notes, fmt.Sprintf("overlap: %s of %s also in %s; %s in both", text.Count(o.Items, "item"), o.Of, o.In, text.Plural(o.Classes, "class", "classes")))
	}
	if d.Noise != nil {
		t.Notes = append(t.Notes, "noise: "+noise.Words(*d.Noise))
	}
	if d.Graph != nil {
		t.Notes = append(t.Notes, "pair graph, epoch 0: "+wire.DescribeGraph(d.Graph))
	}
	if d.Triplets != nil {
		t.Notes = append(t.Notes, "triplets, epoch 0: "+wire.DescribeTriplets(d.Triplets))
	}
	if b := d.Sampler; b != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("sampler: %s, epoch 0: %s", b.Name, record.Coverage(b.Coverage)))
	}
	return t
}

// row is a line of the table.
type row struct {
	what string
	show func(s *printed.SetStats) string
}

func rows(vectors, channels bool) []row {
	whole := func(f func(s *printed.SetStats) int) func(s *printed.SetStats) string {
		return func(s *printed.SetStats) string { return strconv.Itoa(f(s)) }
	}
	item, value := "images", "pixel"
	if vectors {
		item, value = "vectors", "value"
	}
	rows := []row{
		{item, whole(func(s *printed.SetStats) int { return s.Items })},
		{"shape", func(s *printed.SetStats) string { return fmt.Sprintf("%dx%dx%d", s.Height, s.Width, s.Channels) }},
		{"classes", whole(func(s *printed.SetStats) int { return s.Classes })},
		{item + " per class: min, median, max", func(s *printed.SetStats) string {
			return fmt.Sprintf("%d, %g, %d", s.PerClassMin, s.PerClassMed, s.PerClassMax)
		}},
		{"classes of one item", whole(func(s *printed.SetStats) int { return s.Singles })},
		{"classes without items", whole(func(s *printed.SetStats) int { return s.EmptyClasses })},
		{value + "s: min, max", func(s *printed.SetStats) string { return fmt.Sprintf("%.4g, %.4g", s.Min, s.Max) }},
		{value + " mean", func(s *printed.SetStats) string { return fmt.Sprintf("%.4f", s.Mean) }},
		{value + " deviation", func(s *printed.SetStats) string { return fmt.Sprintf("%.4f", s.Std) }},
	}
	if channels && !vectors {
		rows = append(rows,
			row{"mean by channel", func(s *printed.SetStats) string { return decimals(s.ChannelMean) }},
			row{"deviation by channel", func(s *printed.SetStats) string { return decimals(s.ChannelStd) }})
	}
	if vectors {
		rows[1] = row{"dimension", whole(func(s *printed.SetStats) int { return s.Channels })}
		rows = append(rows, row{"length: min, mean, max", func(s *printed.SetStats) string {
			return fmt.Sprintf("%.4g, %.4g, %.4g", s.Lengths.Min, s.Lengths.Mean, s.Lengths.Max)
		}})
	}
	return append(rows,
		row{"duplicates", whole(func(s *printed.SetStats) int { return s.Duplicates })},
		row{"of them under another label", whole(func(s *printed.SetStats) int { return s.Conflicts })},
		row{"constant " + item, whole(func(s *printed.SetStats) int { return s.Constant })},
		row{"fingerprint", func(s *printed.SetStats) string {
			return fmt.Sprintf("%.16s", strings.TrimPrefix(s.Fingerprint, "sha256:"))
		}})
}

func decimals(x []float64) string {
	out := lists.Map(x, func(v float64) string { return fmt.Sprintf("%.4f", v) })
	return strings.Join(out, ", ")
}
