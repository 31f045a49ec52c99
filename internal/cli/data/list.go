package data

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

func newList(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:       "list",
		Paged:     true,
		Short:     "List the datasets that can be read",
		Long:      "Lists the datasets that data.name can select: description and required files or keys.\nWith --json it also lists the config keys that only this dataset has.",
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "as a table", Line: "tercet data list"},
			{Why: "with their config keys, for a script", Line: "tercet data list --json"},
		},
		Run: func(context.Context, []string) error { return runDataList(s) },
	}.Build()
}

func runDataList(s *base.Streams) error {
	doc := printed.Datasets{Schema: record.DatasetsSchema}
	keys := config.Keys()
	for _, src := range data.Sources() {
		about := src.Defaults.Traits()
		info := printed.DatasetEntry{Name: src.Name, About: about.About, Needs: about.Needs, Keys: []string{}}
		for _, k := range keys {
			if strings.HasPrefix(k.Key, "data.") && slices.Contains(k.With, src.Name) {
				info.Keys = append(info.Keys, k.Key)
			}
		}
		doc.Datasets = append(doc.Datasets, info)
	}
	return s.Result(doc, func(w io.Writer) error {
		t := base.PlainTable("name", "what it is", "needs")
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
