package eval

import (
	"os"
	"path/filepath"
	"strings"

	"tercet/internal/cli/base"
)

// inputs are the files that are evaluated, "" for none.
func (o *options) inputs() []string {
	return []string{o.Embeddings, o.Labels, o.queries, o.queryLabels, o.lists}
}

// outputs refuses files to which nothing is written, before the work.
func (o *options) outputs() error {
	if info, err := os.Stat(o.out); o.out != "" && err == nil && info.IsDir() {
		return base.Usagef("--out %s is a folder; give the file to write, such as %s", o.out, filepath.Join(o.out, "eval.json"))
	}
	if o.out != "" {
		if err := base.Writable(o.out); err != nil {
			return err
		}
		if err := base.NotInput("--out", o.out, o.inputs()...); err != nil {
			return err
		}
	}
	if o.classes != "" {
		if ext := strings.ToLower(filepath.Ext(o.classes)); ext != ".csv" && ext != ".json" {
			return base.Usagef("--class-scores %s: give a FILE that ends in .csv or .json", o.classes)
		}
		if err := base.Writable(o.classes); err != nil {
			return err
		}
		if err := base.NotInput("--class-scores", o.classes, o.inputs()...); err != nil {
			return err
		}
	}
	return nil
}
