package runs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tercet/internal/cli/base"
	"tercet/internal/cli/report"
	"tercet/internal/config"
	"tercet/internal/record"
	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/run"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

func newShow(s *base.Streams) *cobra.Command {
	return base.Command{
		Use:   "show RUN",
		Paged: true,
		Short: "Show a run: status, data, network, settings, scores, files",
		Long: `
Shows a run: its status and how to resume it, data and network, the config keys that
differ from the defaults, all scores with their split and checkpoint, and its files.`,
		Examples: []base.Example{
			{Why: "a run", Line: "tercet runs show runs/first"},
		},
		Exits: []int{base.ExitData},
		Args:  cobra.ExactArgs(1),
		Run:   func(_ context.Context, args []string) error { return show(s, args[0]) },
	}.Build()
}

func show(s *base.Streams, arg string) error {
	dir, err := oneRun(arg)
	if err != nil {
		return err
	}
	f, err := look(dir)
	if err != nil {
		return err
	}
	if f.run == nil {
		return &base.ExitError{Code: base.ExitData, Err: fmt.Errorf("%s: %s%s", dir, f.Status, text.After(": ", f.Message))}
	}
	if f.run.Labels, err = report.Settings(dir, f.run.Manifest.Config); err != nil {
		return err
	}
	doc := printed.ShownRun{Schema: record.ShownRunSchema, RunState: f.RunState, Manifest: f.run.Manifest, Left: f.run.Left}
	if doc.Settings, err = changed(f.run.Labels); err != nil {
		return err
	}
	if doc.Results, err = results(dir); err != nil {
		return err
	}
	if doc.Files, err = sizes(dir); err != nil {
		return err
	}
	doc.Next = next(f)
	return s.Result(doc, func(w io.Writer) error { return showText(s, w, doc) })
}

// changed are the settings that differ from the defaults.
func changed(labels []rundir.Label) ([]printed.Setting, error) {
	standard, err := config.Load("", nil)
	if err != nil {
		return nil, err
	}
	is := map[string]string{}
	for _, l := range standard.Origins() {
		is[l.Key] = l.Value
	}
	out := []printed.Setting{}
	for _, l := range labels {
		if v, ok := is[l.Key]; !ok || v != l.Value {
			out = append(out, printed.Setting{Key: l.Key, Value: l.Value})
		}
	}
	return out, nil
}

// results are all scores of the run, of whatever images and weights.
func results(dir string) ([]printed.ShownResult, error) {
	out := []printed.ShownResult{}
	for _, split := range []string{"test", "validation", "train"} {
		for _, checkpoint := range append([]string{"last", "best"}, run.KeptNames(dir)...) {
			of := rundir.Of{Split: split, Checkpoint: checkpoint}
			r, err := rundir.ReadOf(dir, of)
			if err != nil {
				return nil, report.RunsError(err)
			}
			for _, kind := range rundir.Kinds() {
				if from, ok := r.From(kind); ok {
					out = append(out, printed.ShownResult{Kind: kind, Split: split, Checkpoint: checkpoint, Step: from.Step, Items: from.Items, Scores: r.Only(kind).Scores()})
				}
			}
		}
	}
	return out, nil
}

// sizes are those of the entries of a run's directory, the largest first.
func sizes(dir string) ([]printed.SizedFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil // in an archive
	}
	var out []printed.SizedFile
	for _, e := range entries {
		n, err := rundir.Size(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		out = append(out, printed.SizedFile{Name: name, Bytes: n})
	}
	slices.SortStableFunc(out, func(a, b printed.SizedFile) int { return int(b.Bytes - a.Bytes) })
	return out, nil
}

// next is the command that a run needs next; "" for none.
func next(f found) string {
	dir := text.ShellWord(f.Dir)
	switch f.Status {
	case record.Interrupted, printed.Dead, record.Failed:
		return "tercet train --resume " + dir
	case record.Finished:
		if f.run.Manifest.Pruned {
			return "tercet train --resume " + dir + " --from " + run.Start
		}
		if !f.run.Has("eval") {
			return "tercet eval --run " + dir
		}
	}
	return ""
}

func showText(s *base.Streams, w io.Writer, d printed.ShownRun) error {
	var b strings.Builder
	line := func(head, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "%-9s %s\n", head, text)
		}
	}
	m := d.Manifest
	fmt.Fprintf(&b, "%s\n\n", text.Visible(d.Dir))
	line("status", "%s at step %d of %d%s", s.Paint(base.StatusTone(d.Status), string(d.Status)), m.Steps, m.Of, text.After("; ", details(d.SweptRun)))
	if m.Stopped != nil {
		line("stopped", "at step %d: %s", m.Stopped.Step, m.Stopped.Reason)
	}
	for _, e := range m.Extended {
		line("continues", "%s from step %d%s", e.Run, e.Step, text.After(", schedule ", e.Schedule))
	}
	line("data", "%s: %s", m.Data.Name, dataWords(m.Data))
	line("network", "%s, embedding of %d, %s", m.Model.Name, m.Model.Embedding, text.Count(m.Model.Parameters, "parameter"))
	line("trained", "%s, %s, %s (%s), version %s", m.Started, text.Duration(m.Seconds), m.CPU, m.Kernel, m.Version)
	if m.Best != nil {
		line("best", "%s %.4f at step %d", bestName(d.RunState), m.Best.Value, m.Best.Step)
	}
	if m.Selection != nil {
		line("", "%s", m.Selection.Note)
	}
	line("next", "%s", d.Next)
	if len(d.Settings) > 0 {
		b.WriteString("\nsettings that are not the defaults:\n")
		for _, s := range d.Settings {
			fmt.Fprintf(&b, "  %s: %s\n", s.Key, s.Value)
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	if len(d.Results) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := resultTable(d).Write(w, "text"); err != nil {
			return err
		}
	}
	b.Reset()
	if len(d.Files) > 0 {
		fmt.Fprintf(&b, "\nfiles: %s\n", text.Bytes(d.Bytes))
		for _, f := range d.Files {
			fmt.Fprintf(&b, "  %9s  %s\n", text.Bytes(f.Bytes), f.Name)
		}
	}
	for _, l := range d.Left {
		fmt.Fprintf(&b, "note: %s\n", l)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func dataWords(d record.Data) string {
	var out []string
	for _, split := range []string{"train", "validation", "test"} {
		if s := rundir.SetOf(d, split); s.Items > 0 {
			out = append(out, fmt.Sprintf("%d %s images of %s", s.Items, split, text.Plural(s.Classes, "class", "classes")))
		}
	}
	return text.List(out, "and")
}

func resultTable(d printed.ShownRun) *render.Table {
	t := &render.Table{Columns: []render.Column{{Name: "score"}, {Name: "value"}, {Name: "images"}, {Name: "checkpoint"}, {Name: "step"}}}
	for _, r := range d.Results {
		for _, sc := range r.Scores {
			t.Rows = append(t.Rows, []render.Cell{render.Text(sc.Key), scoreCell(&sc.Value), render.Text(fmt.Sprintf("%s, %d", r.Split, r.Items)), render.Text(r.Checkpoint), render.Int(r.Step)})
		}
	}
	return t
}
