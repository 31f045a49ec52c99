package published

import (
	"fmt"
	"slices"

	"tercet/internal/attack"
	"tercet/internal/lists"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/study"
	"tercet/internal/text"
)

// used says what makes the numbers of the runs in the table less than they seem.
func (p *Table) used(runs []*rundir.Run, variants []string) []string {
	var out []string
	runs = slices.DeleteFunc(runs, func(r *rundir.Run) bool {
		if !r.Finished() {
			out = append(out, r.Unfinished()...)
		}
		return !r.Finished()
	})
	var noEval, noAttack, noERS []string
	for _, r := range runs {
		switch {
		case r.Eval == nil && r.Leaves("eval"), r.Attack == nil && r.Leaves("attack"):
		case r.Eval == nil:
			noEval = append(noEval, r.Dir)
		case !p.attacks():
		case r.Attack == nil:
			noAttack = append(noAttack, r.Dir)
		case slices.ContainsFunc(variants, func(v string) bool { _, ok := record.Scores(r.Attack.Scores[v]).Get(attack.ERS); return !ok }):
			noERS = append(noERS, r.Dir)
		}
	}
	if noEval != nil {
		out = append(out, fmt.Sprintf("no eval.json in %s; tercet eval %s %s makes it", text.Some(noEval), option.Name("run"), text.ShellWord(noEval[0])))
	}
	for _, lack := range []struct {
		what, it string
		dirs     []string
	}{{"no attack.json", "it", noAttack}, {"not all ten scores", "them", noERS}} {
		if lack.dirs != nil {
			out = append(out, fmt.Sprintf("%s in %s; tercet attack %s %s %s ers %s both makes %s", lack.what, text.Some(lack.dirs),
				option.Name("run"), text.ShellWord(lack.dirs[0]), option.Name("suite"), option.Name("variant"), lack.it))
		}
	}
	for _, r := range runs {
		out = append(out, ofOthers(r)...)
	}
	return append(out, rundir.TableWarnings(rundir.OnlyOf(runs, p.documents()...), p.keys())...)
}

// keys are the scores of the columns.
func (p *Table) keys() []string {
	return lists.Map(p.scores, func(s publishedScore) string { return s.key })
}

// documents are the kinds that the columns come from.
func (p *Table) documents() []string {
	var out []string
	for _, s := range p.scores {
		out = lists.AppendNew(out, map[bool]string{false: "eval", true: "attack"}[s.attacked])
	}
	return out
}

// warn says of each row in few words what is to be said of its runs.
func (p *Table) warn(rows []*study.Row) {
	runs := lists.Map(rows, func(r *study.Row) []*rundir.Run { return rundir.OnlyOf(r.Dirs(), p.documents()...) })
	for i, said := range rundir.RowWarnings(runs, p.keys()) {
		rows[i].Caution = said
	}
}

// ofOthers says that the two results which a row of a table joins are not of the same
// weights and images.
func ofOthers(r *rundir.Run) []string {
	if r.Eval == nil || r.Attack == nil {
		return nil
	}
	e, a := r.Eval.Source, r.Attack.Source
	if e.Step == a.Step && e.Set == a.Set && e.Fingerprint == a.Fingerprint {
		return nil
	}
	of := func(s record.Source) string {
		return fmt.Sprintf("checkpoint %s (step %d) on %d images of set %s", s.Checkpoint, s.Step, s.Items, s.Set)
	}
	return []string{fmt.Sprintf("%s: eval.json is of %s, attack.json of %s", r.Dir, of(e), of(a))}
}

// legend says what the numbers are.
func (p *Table) legend(d *study.Document) string {
	note := "in percent"
	if p.attacks() {
		note += ", except TMA (a cosine) and ES:D (a distance)"
	}
	seeds, one := false, false
	for _, r := range d.Rows {
		seeds = seeds || !r.Paper && len(r.Runs) > 1 && r.N > 1
		for _, e := range r.Scores {
			one = one || e.Brief && e.CI95 != nil
		}
	}
	if seeds {
		note += "; ±: half the 95 % interval of Student's t over n seeds"
	}
	if one {
		note += "; of one run, the interval over its queries is in " + option.Name("format") + " csv and " + option.Name("json")
	}
	return note
}
