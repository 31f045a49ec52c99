package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// Variants reads a choice of variants of the attacks: published, fixed or both.
func Variants(choice string) ([]string, error) {
	switch choice {
	case "published", "fixed":
		return []string{choice}, nil
	case "both":
		return []string{"published", "fixed"}, nil
	}
	return nil, fmt.Errorf("there is no variant %q; choose published, fixed or both", choice)
}

// Compare sets runs below the paper's rows, with scores in variants of the attacks. Errors:
// a run that belongs to two rows.
func (p *Published) Compare(runs []*rundir.Run, variants []string) (*Document, error) {
	of, left, err := p.assign(runs)
	if err != nil {
		return nil, err
	}
	t, err := p.table()
	if err != nil {
		return nil, err
	}
	d := &Document{Schema: record.StudySchema, Table: p.Name, Title: p.Title, Rows: []*Row{}, Notes: []string{fmt.Sprintf("paper: %s; %s", p.Source, p.Setup)}, table: t}
	var remarks, used []string
	var kept []*rundir.Run
	for i := range p.Rows {
		row, number := &p.Rows[i], fmt.Sprint(i+1)
		kinds := publishedKinds(of[i])
		if row.collapsed || row.numbers != nil || len(kinds) == 0 {
			d.Rows = append(d.Rows, p.paperRow(row, number))
		}
		if row.disagrees() {
			remarks = append(remarks, fmt.Sprintf("%s: the paper prints ERS %.1f, its ten scores give %.1f", p.rowName(i), 100*row.numbers["ERS"].Value, 100*row.numbers[ersOfTen].Value))
		}
		names := rundir.GroupNames(kinds)
		for k, kind := range kinds {
			d.Notes = append(d.Notes, pooled(names[k], kind)...)
			remarks = append(remarks, ended(names[k], kind)...)
			for _, v := range variants {
				who := "ours, " + v
				if len(kinds) > 1 {
					who += ", " + names[k]
				}
				r, notes := p.ourRow(row, kind, v, names[k])
				r.Fields["row"], r.Fields["numbers"] = number, who
				d.Rows, d.Notes = append(d.Rows, r), append(d.Notes, notes...)
			}
		}
		kept = append(kept, of[i]...)
	}
	if left != nil {
		remarks = append(remarks, "of no row of this table: "+render.Listed(left))
	}
	used = p.used(inOrder(runs, kept), variants)
	p.warn(d.Rows)
	d.all = d.Rows
	d.Notes = append(slices.Concat(d.Notes, remarks, used), p.legend(d))
	return d, nil
}

// pooled says in what runs of a kind differ that should be the same.
func pooled(name string, kind []*rundir.Run) []string {
	if len(kind) < 2 {
		return nil
	}
	return append(rundir.Pooled(name, kind), rundir.SameSeed(name, kind)...)
}

// inOrder are the runs that are kept, in their own order.
func inOrder(runs, kept []*rundir.Run) []*rundir.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *rundir.Run) bool { return !slices.Contains(kept, r) })
}

// table has the paper's columns.
func (p *Published) table() (*Table, error) {
	t := &Table{Name: p.Name, Title: p.Name + ": " + p.Title, Columns: []string{"defense", "eta as int", "numbers", "data", "n"}}
	for _, name := range []string{"defense", "eta", "numbers", "data"} {
		t.Fields = append(t.Fields, Field{Name: name})
		t.Rows = append(t.Rows, name)
	}
	for _, s := range p.scores {
		form := " as paper .3"
		if s.percent {
			form = " as score"
		}
		t.Scores = append(t.Scores, Score{Name: s.name})
		t.Columns = append(t.Columns, s.name+form)
	}
	t.Scores = append(t.Scores, Score{Name: ersOfTen})
	t.Columns = append(t.Columns, ersOfTen+" as score optional if-any")
	return t, t.parseColumns()
}

// assign sorts runs into rows. A run that belongs to two is an error; those of none are left
// over.
func (p *Published) assign(runs []*rundir.Run) (of [][]*rundir.Run, left []string, err error) {
	of = make([][]*rundir.Run, len(p.Rows))
	for _, r := range runs {
		at := -1
		for i := range p.Rows {
			if !p.Rows[i].Match.Fits(func(key string) string { return publishedKey(r, key) }) {
				continue
			}
			if at >= 0 {
				return nil, nil, fmt.Errorf("%s belongs to two rows of the table, %s and %s: their match sections must differ", r.Dir, p.rowName(at), p.rowName(i))
			}
			at = i
		}
		if at < 0 {
			left = append(left, r.Dir)
			continue
		}
		of[at] = append(of[at], r)
	}
	return of, left, nil
}

// publishedKey is a config key of a run. The source of a defense's triplets is the miner
// where none is set.
func publishedKey(r *rundir.Run, key string) string {
	v, _ := r.Label(key)
	if miner, there := r.Label("miner.name"); key == "defense.source" && v == "null" && there {
		return miner
	}
	return v
}

// publishedKinds parts runs that differ in more than the seed, and those that were not
// attacked in the same way, so that no mean is over several budgets, numbers of queries or
// sets of images. Runs without an attack, or not finished, stay with the first part.
func publishedKinds(runs []*rundir.Run) [][]*rundir.Run {
	groups, order := groupBy(runs, func(r *rundir.Run) string {
		var b strings.Builder
		for _, l := range r.Labels {
			if l.Key != "name" && l.Key != "seed" {
				fmt.Fprintf(&b, "%q=%q;", l.Key, l.Setting())
			}
		}
		return b.String()
	})
	var out [][]*rundir.Run
	for _, id := range order {
		unattacked := func(r *rundir.Run) bool { return r.Attack == nil || !r.Finished() }
		parts, budgets := groupBy(slices.DeleteFunc(slices.Clone(groups[id]), unattacked), func(r *rundir.Run) string {
			return fmt.Sprintf("%s of %d images of %s", rundir.Budget(r.Attack), r.Attack.Source.Items, r.Attack.Source.Set)
		})
		if len(budgets) < 2 {
			out = append(out, groups[id])
			continue
		}
		for k, budget := range budgets {
			part := parts[budget]
			if k == 0 {
				part = append(part, slices.DeleteFunc(slices.Clone(groups[id]), func(r *rundir.Run) bool { return !unattacked(r) })...)
			}
			out = append(out, part)
		}
	}
	return out
}

// paperRow has the paper's numbers.
func (p *Published) paperRow(row *PublishedRow, number string) *Row {
	r := &Row{Fields: row.fields(row.Data, row.Eta), Scores: row.numbers, Runs: []string{}, Seeds: []uint64{}, paper: true}
	r.Fields["row"], r.Fields["numbers"] = number, "paper"
	if row.collapsed {
		r.Word = "*collapse*"
	}
	return r
}

func (r *PublishedRow) fields(data string, eta int) map[string]string {
	out := map[string]string{"defense": r.Label, "data": data}
	if eta > 0 {
		out["eta"] = fmt.Sprint(eta)
	}
	if len(r.Cell) > 0 {
		out["source"], out["destination"] = r.Cell[0], r.Cell[1]
	}
	return out
}

// ourRow has means over the finished runs of a kind. Of one run the intervals are those
// over its queries.
func (p *Published) ourRow(row *PublishedRow, kind []*rundir.Run, variant, name string) (out *Row, notes []string) {
	out = &Row{Fields: row.fields(kind[0].Manifest.Data.Name, etaOf(kind[0])), Scores: map[string]Estimate{}}
	var finished []*rundir.Run
	status := map[record.Status]int{}
	for _, r := range kind {
		out.Runs, out.Seeds, out.obs = append(out.Runs, r.Dir), append(out.Seeds, r.Manifest.Seed), append(out.obs, &observation{run: r})
		if status[r.Manifest.Status]++; r.Finished() {
			finished = append(finished, r)
		}
	}
	out.N = len(finished) + status["collapsed"] + status["diverged"]
	switch {
	case len(finished) > 0:
	case status["collapsed"] > 0:
		out.Word = "*collapse*"
	case status["diverged"] > 0:
		out.Word = "*diverged*"
	default:
		out.Word = "*unfinished*"
	}
	why := map[string]string{}
	var names []string
	for _, s := range p.scores {
		names = append(names, s.name)
		key := s.in(variant)
		if w, unlike := rundir.Unlike(finished, []string{key})[key]; unlike {
			why[s.name] = w
		} else if e, ok := meanOf(finished, key); ok {
			out.Scores[s.name] = e
		}
	}
	addERS(out.Scores)
	out.N = out.counted()
	return out, rundir.LeftOut(name, names, why)
}

// meanOf is the mean of a score over runs.
func meanOf(runs []*rundir.Run, key string) (Estimate, bool) {
	var values []float64
	var one *[2]float64
	for _, r := range runs {
		if v, ok := r.Scores().Get(key); ok {
			values, one = append(values, v.Value), v.CI95
		}
	}
	if values == nil {
		return Estimate{}, false
	}
	e := estimate(values)
	if len(runs) == 1 {
		e.CI95, e.brief = one, true
	}
	return e, true
}

// counted is of how many runs the numbers are: all whose training is over, unless all
// numbers are of the same fewer.
func (row *Row) counted() int {
	n := 0
	for name, e := range row.Scores {
		if name == ersOfTen {
			continue
		}
		if n != 0 && e.N != n {
			return row.N
		}
		n = e.N
	}
	if n == 0 {
		return row.N
	}
	return n
}

// etaOf is the number of PGD steps that a run's training crafts with, 0 without
// crafting: HM whose destination is its source trains on clean images.
func etaOf(r *rundir.Run) int {
	steps, _ := r.Label("defense.pgd.steps")
	source := publishedKey(r, "defense.source")
	destination, _ := r.Label("defense.destination.name")
	n, err := strconv.Atoi(steps)
	if err != nil || source != "" && source == destination {
		return 0
	}
	return n
}

// ended says which runs of a kind have no numbers.
func ended(name string, kind []*rundir.Run) (out []string) {
	open, lost := 0, 0
	for _, r := range kind {
		switch {
		case r.Lost():
			lost++
		case !r.Finished():
			open++
		}
	}
	if open > 0 {
		out = append(out, fmt.Sprintf("%s: unfinished and not counted: %d of %s", name, open, text.Plural(len(kind), "run", "runs")))
	}
	if over := len(kind) - open; lost > 0 && lost < over {
		out = append(out, fmt.Sprintf("%s: %d of the %d runs collapsed or diverged; the numbers are of the others", name, lost, over))
	}
	return out
}
