package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/config"
)

func newData(s *Streams) *cobra.Command {
	return command{
		use:   "data",
		short: "List the datasets; inspect and preview the data of a config",
		long: `
What there is to learn from, what is in it, and what it looks like. Use it before
a long run: it names duplicates, wrong labels, test images that are also training
images, and what a sampler leaves out.`,
		examples: []example{
			{why: "what can be read", line: "tercet data list"},
			{why: "what is in the data of a config", line: "tercet data inspect --set data.glyphs.classes=20 --set batch.pairs=16"},
			{why: "look at them", line: "tercet data preview --set data.glyphs.classes=20 --out sheet.png"},
		},
		subs: []*cobra.Command{newDataList(s), newDataInspect(s), newDataPreview(s)},
	}.build()
}

// loadData loads the config. Of a sweep it is the first run's, and says so where
// the others have other data.
func loadData(s *Streams, c *configFlags) (*config.Config, error) {
	cfg, err := c.load()
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
