package data

import (
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/config"
)

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "data",
		Short: "List the datasets; inspect, preview and pack the data of a config",
		Long: `
Lists the datasets, checks the data of a config, and draws its images. Use it before a
long run: it reports duplicates, duplicates with different labels, test images that are
also training images, and images that a sampler leaves out.`,
		Examples: []base.Example{
			{Why: "which datasets can be read", Line: "tercet data list"},
			{Why: "check the data of a config", Line: "tercet data inspect --set data.glyphs.classes=20 --set batch.pairs=16"},
			{Why: "draw some of its images", Line: "tercet data preview --set data.glyphs.classes=20 --out sheet.png"},
		},
		Subs: []*cobra.Command{newList(s), newInspect(s), newPreview(s), newPack(s)},
	}.Build()
}

// loadData loads the config. Of a sweep it is the first run's, and says so where
// the others have other data.
func loadData(s *base.Streams, c *base.ConfigFlags) (*config.Config, error) {
	cfg, err := c.Load(s)
	if err != nil {
		return nil, err
	}
	runs, err := cfg.Sweep()
	if err != nil {
		return nil, err
	}
	first, last := runs[0].Sets, runs[len(runs)-1].Sets
	for i, set := range first {
		key, _, _ := strings.Cut(set, "=")
		if section, _, _ := strings.Cut(key, "."); (section == "data" || section == "batch") && set != last[i] {
			s.Note("note: the sweep changes %s; shown is %s, --set sweep.%s=[VALUE] shows another", key, set, key)
		}
	}
	return cfg.Variant(runs[0])
}
