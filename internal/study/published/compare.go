package published

import (
	"cmp"
	"fmt"
	"slices"

	"tercet/internal/engine/adversary"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/study/observe"
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
	return nil, fmt.Errorf("unknown variant %q; valid: published, fixed, both", choice)
}

// Compare sets runs below the paper's rows, with scores in variants of the attacks. Errors:
// a run that belongs to two rows.
func (p *Table) Compare(runs []*rundir.Run, variants []string) (*study.Document, error) {
	of, left, err := p.assign(runs)
	if err != nil {
		return nil, err
	}
	d := &study.Document{Rows: []*study.Row{}, Notes: []string{fmt.Sprintf("%s: %s; %s", p.by(), p.Source, p.Setup)}}
	if !p.attacks() {
		variants = variants[:1] // there is nothing to tell them apart
	}
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
				who := "ours"
				if p.attacks() {
					who += ", " + v
				}
				if precision, _ := kind[0].Label("defense.pgd.precision"); precision != "" && precision != string(adversary.Float32) {
					who += ", crafted in " + precision
				}
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
		remarks = append(remarks, "of no row of this table: "+text.Some(left))
	}
	used = p.used(inOrder(runs, kept), variants)
	p.warn(d.Rows)
	return p.table().Document(p.Title, d.Rows, append(slices.Concat(d.Notes, remarks, used), p.legend(d)))
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
	return lists.Filter(runs, func(r *rundir.Run) bool { return slices.Contains(kept, r) })
}

// table has the paper's columns.
func (p *Table) table() *study.Table {
	columns := []string{cmp.Or(p.Heading, "defense") + " = defense", "eta as int", "numbers", "data", "n"}
	if !p.attacks() {
		columns = slices.Delete(columns, 1, 2)
	}
	t := &study.Table{Name: p.Name, Title: p.Name + ": " + p.Title, Columns: columns}
	for _, name := range []string{"defense", "eta", "numbers", "data"} {
		t.Fields = append(t.Fields, observe.Field{Name: name})
		t.Rows = append(t.Rows, name)
	}
	for _, s := range p.scores {
		form := " as paper .3"
		if s.percent {
			form = " as score"
		}
		t.Scores = append(t.Scores, observe.Score{Name: s.name})
		t.Columns = append(t.Columns, s.name+form)
	}
	t.Scores = append(t.Scores, observe.Score{Name: ersOfTen})
	t.Columns = append(t.Columns, ersOfTen+" as score optional if-any")
	return t
}

// paperRow has the numbers that the paper, or who by says, prints.
func (p *Table) paperRow(row *Row, number string) *study.Row {
	r := &study.Row{Fields: row.fields(row.Data, row.Eta), Scores: row.numbers, Runs: []string{}, Seeds: []uint64{}, Paper: true}
	r.Fields["row"], r.Fields["numbers"] = number, p.by()
	if row.collapsed {
		r.Word = "*collapse*"
	}
	return r
}

func (r *Row) fields(data string, eta int) map[string]string {
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
func (p *Table) ourRow(row *Row, kind []*rundir.Run, variant, name string) (out *study.Row, notes []string) {
	out = &study.Row{Fields: row.fields(kind[0].Manifest.Data.Name, etaOf(kind[0])), Scores: map[string]study.Estimate{}}
	var finished []*rundir.Run
	status := map[record.Status]int{}
	for _, r := range kind {
		out.Of(r)
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
	out.N = counted(out)
	return out, rundir.LeftOut(name, names, why)
}

// meanOf is the mean of a score over runs.
func meanOf(runs []*rundir.Run, key string) (study.Estimate, bool) {
	var values []float64
	var one *[2]float64
	for _, r := range runs {
		if v, ok := r.Scores().Get(key); ok {
			values, one = append(values, v.Value), v.CI95
		}
	}
	if values == nil {
		return study.Estimate{}, false
	}
	e := study.EstimateOf(values)
	if len(runs) == 1 {
		e.CI95, e.Brief = one, true
	}
	return e, true
}

// counted is of how many runs the numbers are: all whose training is over, unless all
// numbers are of the same fewer.
func counted(row *study.Row) int {
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
	return cmp.Or(n, row.N)
}
