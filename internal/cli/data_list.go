package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/record"
)

// datasetsDocument is the result of data list.
type datasetsDocument struct {
	Schema   string        `json:"schema"`
	Datasets []datasetInfo `json:"datasets"`
}

type datasetInfo struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	Needs string   `json:"needs"`
	Keys  []string `json:"keys"` // of the config, that not every dataset has
}

func newDataList(s *Streams) *cobra.Command {
	return command{
		use:       "list",
		short:     "List the datasets that can be read",
		long:      "List every value of data.name: what it is and what it needs. With --json also the\nconfig keys that it has beside the common ones.",
		anyKernel: true,
		examples: []example{
			{why: "as a table", line: "tercet data list"},
			{why: "with their config keys, for a script", line: "tercet data list --json"},
		},
		run: func(context.Context, []string) error { return runDataList(s) },
	}.build()
}

func runDataList(s *Streams) error {
	doc := datasetsDocument{Schema: record.DatasetsSchema}
	keys := config.Keys()
	for _, src := range data.Sources() {
		about := src.Defaults.Traits()
		info := datasetInfo{Name: src.Name, About: about.About, Needs: about.Needs, Keys: []string{}}
		for _, k := range keys {
			if strings.HasPrefix(k.Key, "data.") && slices.Contains(k.With, src.Name) {
				info.Keys = append(info.Keys, k.Key)
			}
		}
		doc.Datasets = append(doc.Datasets, info)
	}
	return s.Result(doc, func(w io.Writer) error {
		t := plainTable("name", "what it is", "needs")
		t.SetColumnConfigs([]table.ColumnConfig{
			{Number: 2, WidthMax: 44, WidthMaxEnforcer: text.WrapSoft},
			{Number: 3, WidthMax: 34, WidthMaxEnforcer: text.WrapSoft},
		})
		for _, d := range doc.Datasets {
			t.AppendRow(table.Row{d.Name, d.About, d.Needs})
		}
		_, err := fmt.Fprintln(w, t.Render())
		return err
	})
}
