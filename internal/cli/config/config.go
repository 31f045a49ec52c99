package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/run"
	"tercet/internal/text"
)

// Long is the help of tercet config, and the text of tercet-config(5).
var Long = text.Wrap("A config is one YAML file with the sections "+strings.Join(config.Sections(), ", ")+". Every key has a default; tercet config keys lists them.", 88, "") + `
Later layers override earlier ones: defaults; included files, in order; the file; --set.

  include: [base.yaml]              configs to build on; paths relative to this file
  miner: softhard                   the same as miner: {name: softhard}
  defense: {name: none}             name chooses a component; its keys follow
  loss: {margin: 77/255}            fractions are numbers
  train: {checkpoint_every: 200 steps}
  sweep: {seed: [0, 1, 2]}          the product of all axes is a list of runs
  sweep: {}                         no sweep, even if an included file has one (or null)

A layer that names another component starts from that component's defaults. Keys that
only the previous component has are dropped. Data paths are relative to the working
directory of the command.`

// New makes the command.
func New(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "config",
		Short: "Write, show and check experiment configs",
		Long:  Long,
		Examples: []base.Example{
			{Why: "all values, from the file and the defaults", Line: "tercet config show configs/demo.yaml"},
			{Why: "check before a long run", Line: "tercet config check configs/demo.yaml"},
		},
		Subs: []*cobra.Command{newInit(s), newShow(s), newCheck(s), newKeys(s), newSchema(s)},
	}.Build()
}

type showOptions struct {
	base.ConfigFlags
	origins bool
}

func newShow(s *base.Streams) *cobra.Command {
	var o showOptions
	return base.Command{
		Use:       "show [FILE]",
		Paged:     true,
		Short:     "Print the resolved config",
		Long:      "Prints the complete config that results from FILE and the overrides, or the defaults\nwithout a file. The output is itself a config that trains the same run.",
		Args:      cobra.MaximumNArgs(1),
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "resolve a file", Line: "tercet config show configs/demo.yaml"},
			{Why: "with an override, and the origin of each value", Line: "tercet config show configs/demo.yaml --set train.epochs=2 --origins"},
			{Why: "every key with its default, in a file", Line: "tercet config show > all.yaml"},
		},
		Flags: func(cmd *cobra.Command) {
			o.AddSet(cmd)
			cmd.Flags().BoolVar(&o.origins, "origins", false, "print a table of keys, their values and the origin of each value")
		},
		Run: func(_ context.Context, args []string) error {
			if len(args) > 0 {
				o.Path = args[0]
			}
			return runConfigShow(s, o)
		},
	}.Build()
}

func runConfigShow(s *base.Streams, o showOptions) error {
	c, err := o.Load(s)
	if err != nil {
		return err
	}
	text, err := c.Resolved()
	if err != nil {
		return err
	}
	runs, err := c.Sweep()
	if err != nil {
		return err
	}
	doc := printed.ShownConfig{Schema: record.ConfigSchema, Hash: c.Hash(), Runs: len(runs), Origins: c.Origins()}
	if doc.Config, err = c.Values(); err != nil {
		return err
	}
	return s.Result(doc, func(w io.Writer) error {
		if !o.origins {
			_, err := fmt.Fprintf(w, "%s\n%s", config.EditorLine, text)
			return err
		}
		t := base.PlainTable("key", "value", "from")
		for _, row := range doc.Origins {
			t.AppendRow(table.Row{row.Key, row.Value, row.From})
		}
		_, err := fmt.Fprintln(w, t.Render())
		return err
	})
}

type checkOptions struct {
	base.ConfigFlags
	files []string
}

func newCheck(s *base.Streams) *cobra.Command {
	var o checkOptions
	return base.Command{
		Use:       "check FILE...",
		Short:     "Check configs and list all mistakes",
		Long:      "Checks each FILE, its includes, the overrides and every value of its sweep. It lists all\nmistakes at once, with file, line and key. It reads no data.",
		Args:      cobra.MinimumNArgs(1),
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "one file", Line: "tercet config check configs/demo.yaml"},
			{Why: "a file with overrides", Line: "tercet config check configs/demo.yaml --set miner=distance-weighted --set miner.cutoff=0.5"},
		},
		Flags: o.AddSet,
		Run: func(_ context.Context, args []string) error {
			o.files = args
			return runConfigCheck(s, o)
		},
	}.Build()
}

func runConfigCheck(s *base.Streams, o checkOptions) error {
	doc := printed.ConfigCheck{Schema: record.ConfigCheckSchema, OK: true}
	bad := 0
	for _, file := range o.files {
		f := printed.CheckedFile{File: file}
		c, runs, err := Checked(s, base.ConfigFlags{Path: file, Sets: o.Sets})
		if err != nil {
			bad++
			doc.OK, f.Error = false, err.Error()
			if !s.JSON {
				s.Stderr(err.Error() + "\n")
			}
		} else {
			f.OK, f.Runs, f.Hash, f.Note = true, runs, c.Hash(), warmupNote(c)
			if f.Note != "" {
				s.Note("%s: %s", file, f.Note)
			}
		}
		doc.Files = append(doc.Files, f)
	}
	err := s.Result(doc, func(w io.Writer) error {
		for _, f := range doc.Files {
			verdict := s.Paint(base.Bad, "bad")
			if f.OK {
				verdict = s.Paint(base.Good, "ok") + ", " + text.Count(f.Runs, "run")
			}
			if _, err := fmt.Fprintf(w, "%s: %s\n", f.File, verdict); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && bad > 0 {
		err = base.Usagef("%s of %d not valid", text.Count(bad, "config"), len(o.files))
	}
	return err
}

// Checked loads a config and returns what training would refuse of its runs without
// looking at their data, and how many runs it stands for.
func Checked(s *base.Streams, f base.ConfigFlags) (c *config.Config, runs int, err error) {
	if c, err = f.Load(s); err != nil {
		return nil, 0, err
	}
	expand := run.Variants
	if c.Search.Method == "halving" { // its trials are known only while it runs
		expand = run.Configs
	}
	variants, err := expand(c)
	if err != nil {
		return nil, 0, err
	}
	var bad []error
	seen := map[string]bool{}
	for _, v := range variants {
		if err := run.CheckConfig(v); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			bad = append(bad, fmt.Errorf("%s: run %s: %w", cmp.Or(f.Path, "config"), v.Name, err))
		}
	}
	return c, len(variants), errors.Join(bad...)
}

// warmupNote says of a warm-up that it fills the whole run, or that only the data can
// show whether it does; "" where it is shorter. A cosine is checked with the config.
func warmupNote(c *config.Config) string {
	w, length, unit := c.Optimizer.Schedule.Warmup, c.Train.Epochs, "epochs"
	if c.Train.Steps > 0 {
		length, unit = c.Train.Steps, "steps"
	}
	switch {
	case w.N == 0 || c.LearnsMetric():
		return ""
	case w.Unit != unit:
		return fmt.Sprintf("not checked: whether optimizer.schedule.warmup (%s) ends before the run (%d %s) depends on the data; tercet train --dry-run prints the number of steps", w, length, unit)
	case w.N >= float64(length):
		return fmt.Sprintf("optimizer.schedule.warmup (%s) is as long as the run (%d %s) or longer: the learning rate never stays at optimizer.lr", w, length, unit)
	}
	return ""
}

func newKeys(s *base.Streams) *cobra.Command {
	cmd := base.Command{
		Use:       "keys [PREFIX]",
		Paged:     true,
		Short:     "List every key with its default and meaning",
		Long:      "Lists the keys of a config, or only those that begin with PREFIX: default, allowed\nvalues, the components that have the key, and its meaning.",
		Args:      cobra.MaximumNArgs(1),
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "the keys of one section", Line: "tercet config keys optimizer"},
			{Why: "all, for a script", Line: "tercet config keys --json"},
		},
		Run: func(_ context.Context, args []string) error { return runConfigKeys(s, strings.Join(args, "")) },
	}.Build()
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return base.Begins(append(sections(), base.ConfigKeys()...), word), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func runConfigKeys(s *base.Streams, prefix string) error {
	doc := printed.ConfigKeys{Schema: record.ConfigKeysSchema}
	for _, k := range config.Keys() {
		if strings.HasPrefix(k.Key, prefix) {
			doc.Keys = append(doc.Keys, k)
		}
	}
	if len(doc.Keys) == 0 {
		all := append(sections(), base.ConfigKeys()...)
		return base.Usagef("no key begins with %q; %slist all with tercet config keys", prefix, base.DidYouMean(prefix, all))
	}
	return s.Result(doc, func(w io.Writer) error {
		for _, k := range doc.Keys {
			line := k.Key + ": " + k.Default
			documented := len(k.Values) > 0 && k.Values[0].Doc != ""
			if k.Valid != "" && !documented {
				line += "  (" + k.Valid + ")"
			}
			if len(k.With) > 0 {
				line += "  with " + strings.Join(k.With, ", ")
			}
			if _, err := fmt.Fprintf(w, "%s\n    %s\n", line, k.Doc); err != nil {
				return err
			}
			if !documented {
				continue
			}
			for _, v := range k.Values {
				if _, err := fmt.Fprintf(w, "      %-21s %s\n", v.Value, v.Doc); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// sections lists the sections of a config.
func sections() []string {
	var out []string
	for _, k := range base.ConfigKeys() {
		if section, _, inside := strings.Cut(k, "."); inside && !slices.Contains(out, section) {
			out = append(out, section)
		}
	}
	return out
}

func newSchema(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:       "schema",
		Short:     "Print the JSON Schema of configs, for editors",
		Long:      "Prints the JSON Schema (draft 7) of configs. Editors with a YAML language server\ncomplete and check a file whose first line is\n  " + config.EditorLine + "\nand that has tercet.schema.json in its folder. config init and config show write the line.",
		AnyKernel: true,
		Examples: []base.Example{
			{Why: "write the schema file for editors", Line: "tercet config schema > tercet.schema.json"},
		},
		Run: func(context.Context, []string) error { return runConfigSchema(s) },
	}.Build()
}

func runConfigSchema(s *base.Streams) error {
	text, err := config.JSONSchema()
	if err != nil {
		return err
	}
	return s.Text(printed.ConfigSchemaText{Schema: record.ConfigSchemaSchema, JSONSchema: text}, string(text))
}
