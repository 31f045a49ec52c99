package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/fsx"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run/starter"
)

type initOptions struct {
	source, root string
	out          string
	force        bool
}

func newInit(s *base.Streams) *cobra.Command {
	var o initOptions
	cmd := base.Command{
		Use:   "init SOURCE [ROOT]",
		Short: "Write a commented config for the data in a folder",
		Long: `
Inspects the data in ROOT and writes a config that trains on them. SOURCE is the kind of
dataset; tercet data list describes each:

  folder ROOT     a folder of PNG or JPEG images per class, or train and test with such
  mnist ROOT      the four IDX files of MNIST
  cifar10 ROOT    CIFAR-10, binary version
  idx ROOT        IDX files of images and labels
  npy ROOT        vectors and labels from other tools; ROOT can be the file of vectors
  glyphs          the built-in characters; no files

The data determine the split, the image size, the batch and the number of epochs;
comments in the file give the reasons. The config is ready to train.`,
		Args: cobra.RangeArgs(1, 2),
		Examples: []base.Example{
			{Why: "class folders in photos", Line: "tercet config init folder photos --out photos.yaml"},
			{Why: "the built-in characters", Line: "tercet config init glyphs > glyphs.yaml"},
		},
		Exits: []int{base.ExitData},
		Flags: func(cmd *cobra.Command) {
			flags := cmd.Flags()
			flags.StringVarP(&o.out, "out", "o", "", "`FILE`.yaml to write; by default the config is printed")
			flags.BoolVar(&o.force, "force", false, "replace the file of --out")
		},
		Run: func(ctx context.Context, args []string) error {
			o.source = args[0]
			if len(args) > 1 {
				o.root = args[1]
			}
			return runConfigInit(ctx, s, o)
		},
	}.Build()
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return base.Begins(sourceNames(), word), cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

func sourceNames() []string {
	return lists.Map(data.Sources(), func(src component.Component[data.Source]) string { return src.Name })
}

// isDrawn says whether a source needs no files.
func isDrawn(source string) bool {
	s, known := data.Family.Lookup(source)
	return known && s.Defaults.Traits().Drawn
}

func runConfigInit(ctx context.Context, s *base.Streams, o initOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	text, err := starter.Starter(ctx, o.source, o.root)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := os.MkdirAll(filepath.Dir(o.out), 0o755); err != nil {
			return err
		}
		if err := fsx.WriteFile(o.out, text, 0o644); err != nil {
			return err
		}
	}
	return s.Result(printed.ConfigInit{Schema: record.ConfigInitSchema, File: o.out, Text: string(text)}, func(w io.Writer) error {
		if o.out != "" {
			_, err := fmt.Fprintln(w, o.out)
			return err
		}
		_, err := w.Write(text)
		return err
	})
}

// check refuses a source that there is not, a root where none belongs or none is
// given, and a file that would be replaced.
func (o initOptions) check() error {
	all := sourceNames()
	switch {
	case !slices.Contains(all, o.source) && base.IsFolder(o.source):
		return base.Usagef("%q is a folder; write tercet config init folder %s for one folder of images per class. Other kinds of data: %s", o.source, o.source, strings.Join(slices.DeleteFunc(all, func(name string) bool { return name == "folder" }), ", "))
	case !slices.Contains(all, o.source):
		return base.Usagef("unknown source %q; %svalid: %s", o.source, base.DidYouMean(o.source, all), strings.Join(all, ", "))
	case isDrawn(o.source) && o.root != "":
		return base.Usagef("%s are drawn by tercet: leave out %s", o.source, o.root)
	case !isDrawn(o.source) && o.root == "":
		return base.Usagef("%s needs a folder: tercet config init %s FOLDER", o.source, o.source)
	case o.root != "" && !exists(o.root):
		return &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("%s does not exist; give the folder with the data", o.root)}
	case o.out == "" && o.force:
		return base.Usagef("--force replaces the file of --out; give --out FILE.yaml")
	case o.out != "" && !base.IsConfigFile(o.out):
		return base.Usagef("--out is %q; give a name that ends in .yaml", o.out)
	}
	if o.out == "" {
		return nil
	}
	if err := base.Writable(o.out); err != nil {
		return err
	}
	if err := base.Placeable(o.out); err != nil {
		return err
	}
	if exists(o.out) && !o.force {
		return base.Usagef("%s already exists; give another --out, or --force to replace it", o.out)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
