package search

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/data/table"
	"tercet/internal/embed/store"
	"tercet/internal/newimages"
	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/search"
)

type options struct {
	gallery, queries string
	k                int
	exclude          string
	maxDistance      float64
	anyNetwork       bool
	out, montage     string
	format           string
	changed          func(flag string) bool
}

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	var o options
	return base.Command{
		Use:   "search [IMAGES...]",
		Short: "Find the nearest neighbors of images in a folder written by tercet embed",
		Long: `
Finds the -k nearest gallery images of each query by Euclidean distance. The search is
exact: it gives the result of a float64 search over all pairs. Ties are in the order of
the gallery. The queries are a second folder of embeddings (--queries), or image files,
folders and lists as in tercet embed, which are embedded with the network of the gallery.

--exclude leaves out some gallery images: self (the same file and box), path (the same
file), or sequence (the same sequence, and the query itself).

--out FILE.csv or FILE.jsonl gets one line per image found. A folder gets D.npy
(distances) and I.npy (gallery rows, -1 for none), with the shapes of faiss.`,
		Examples: []base.Example{
			{Why: "the ten nearest neighbors of each image, without itself", Line: "tercet search --gallery vectors --queries vectors --exclude self --out found.csv"},
			{Why: "as arrays for numpy and faiss", Line: "tercet search --gallery vectors --queries vectors -k 5 --out arrays"},
		},
		Exits: []int{base.ExitData, base.ExitInterrupted},
		Args:  cobra.ArbitraryArgs,
		Flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringVar(&o.gallery, "gallery", "", "`FOLDER` of embeddings to search")
			fs.StringVar(&o.queries, "queries", "", "`FOLDER` of embeddings to search for")
			base.Group(fs, "Input")
			fs.IntVarP(&o.k, "k", "k", 10, "number of images to find per query")
			base.Words(fs, &o.exclude, "exclude", "", []string{"self", "path", "sequence"}, "images to leave out: self, path or sequence")
			fs.Float64Var(&o.maxDistance, "max-distance", 0, "only images up to this `DISTANCE`")
			fs.BoolVar(&o.anyNetwork, "any-network", false, "search even if the weights or transforms of the two folders differ")
			base.Group(fs, "Search")
			fs.StringVarP(&o.out, "out", "o", "", "`FILE`.csv, FILE.jsonl, or a folder for D.npy and I.npy")
			fs.StringVar(&o.montage, "montage", "", "draw up to 20 queries with their results into `FILE`.png")
			base.AddFormat(fs, &o.format)
			base.Group(fs, "Output")
			base.Least(fs, 1, "k")
			o.changed = fs.Changed
		},
		Run: func(ctx context.Context, args []string) error { return run(ctx, s, o, args) },
	}.Build()
}

func (o *options) check(args []string) error {
	switch ext := filepath.Ext(o.out); {
	case o.gallery == "":
		return base.Usagef("name what to search: --gallery FOLDER, which tercet embed has written")
	case (o.queries == "") == (len(args) == 0):
		return base.Usagef("name what to search for: --queries FOLDER, or image files, and not both")
	case o.changed("max-distance") && !(o.maxDistance >= 0):
		return base.Usagef("--max-distance is %v; give a distance of 0 or more", o.maxDistance)
	case ext != "" && ext != ".csv" && ext != ".jsonl":
		return base.Usagef("--out is %q; give a name that ends in .csv or .jsonl, or a folder", o.out)
	case o.montage != "" && !strings.EqualFold(filepath.Ext(o.montage), ".png"):
		return base.Usagef("--montage is %q; the picture is a PNG: give a name that ends in .png", o.montage)
	}
	if err := base.Placeable(o.out, o.montage); err != nil {
		return err
	}
	inputs := slices.Concat(args, store.Files(o.gallery), store.Files(o.queries))
	if err := base.NotInput("--out", o.out, inputs...); err != nil {
		return err
	}
	return base.NotInput("--montage", o.montage, inputs...)
}

func run(ctx context.Context, s *base.Streams, o options, args []string) error {
	if err := o.check(args); err != nil {
		return err
	}
	view := &base.Stages{Streams: s}
	defer view.Close()
	gallery, err := store.Read(o.gallery)
	if err != nil {
		return err
	}
	queries, err := o.read(ctx, gallery, args, view)
	if err != nil {
		return base.RunError(err)
	}
	so := search.Options{K: o.k, Exclude: o.exclude, AnyNetwork: o.anyNetwork}
	if o.changed("max-distance") {
		so.MaxDistance = &o.maxDistance
	}
	r, err := search.Search(ctx, queries, gallery, so, view.Say)
	if err != nil {
		return base.RunError(err)
	}
	view.Close()
	if o.out != "" {
		if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
			return err
		}
		if err := r.Write(o.out); err != nil {
			return err
		}
		s.Note("wrote %s", o.out)
	}
	if o.montage != "" {
		if err := r.Montage(o.montage, 20); err != nil {
			return err
		}
		s.Note("wrote %s", o.montage)
	}
	d := r.Document(o.out == "")
	return s.Result(d, func(w io.Writer) error { return foundTable(r, d).Write(w, o.format) })
}

// read reads the queries, or embeds them by the network of the gallery.
func (o *options) read(ctx context.Context, gallery *store.Folder, args []string, view *base.Stages) (f *store.Folder, err error) {
	if o.queries != "" {
		return store.Read(o.queries)
	}
	t, err := newimages.List(args, newimages.ListOptions{Labels: true, Role: table.Query})
	if err != nil {
		return nil, err
	}
	n, err := newimages.Again(ctx, gallery.Doc)
	if err != nil {
		return nil, err
	}
	im, err := n.Images(t)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "tercet-search-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	doc, _, err := n.Embed(ctx, im, newimages.Options{Dir: dir}, view.Say)
	if err != nil {
		return nil, err
	}
	for _, b := range doc.Broken {
		view.Streams.Note("warning: %s", b.Error)
	}
	if f, err = store.Read(dir); err == nil {
		f.Dir = strings.Join(args, ", ")
	}
	return f, err
}

// mostShown bounds the rows of a table for people.
const mostShown = 200

// foundTable shows what was found, or how much where a file has it.
func foundTable(r *search.Result, d *record.Search) *render.Table {
	t := &render.Table{Title: r.Title()}
	if d.Found == nil && d.Count > 0 {
		t.Columns = []render.Column{{Name: "queries"}, {Name: "gallery"}, {Name: "found"}}
		t.Rows = [][]render.Cell{{render.Int(d.QueryCount), render.Int(d.GalleryCount), render.Int(d.Count)}}
		return t
	}
	for _, name := range []string{"query", "rank", "found", "distance", "label"} {
		t.Columns = append(t.Columns, render.Column{Name: name, Digits: 4})
	}
	for _, f := range d.Found {
		if len(t.Rows) == mostShown {
			t.Notes = append(t.Notes, "more rows: --out FILE.csv has all")
			break
		}
		t.Rows = append(t.Rows, []render.Cell{render.Text(f.QueryPath), render.Int(f.Rank), render.Text(f.Path), render.Number(f.Distance), render.Text(f.Label)})
	}
	return t
}
