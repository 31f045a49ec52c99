package summary

import (
	"fmt"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// comparable returns an error that wraps ErrRun where the candidates' scores are not
// measured alike: of those on different images the best may be the one with the easiest.
func (sel *Selection) comparable() error {
	settings := lists.Map(sel.Candidates, func(c Candidate) []rundir.Label { return c.group.measured(sel.Metric) })
	parts, _ := rundir.UnlikeParts(settings, make([]string, len(settings)))
	if parts == nil {
		return nil
	}
	said := lists.Map(parts, func(part string) string { return part + " " + sel.byPart(part, settings) })
	return fmt.Errorf("%w: nothing is selected, since %s:%s of the candidates is not measured in the same way: %s. Name only runs that are, or evaluate all of them again",
		rundir.ErrRun, sel.Split, sel.Metric, strings.Join(said, "; "))
}

// byPart lists the values of a part of the settings, each with the candidates that have it.
func (sel *Selection) byPart(part string, settings [][]rundir.Label) string {
	var values, out []string
	names := map[string][]string{}
	for i, c := range sel.Candidates {
		v := rundir.PartOf(settings[i], part)
		if names[v] == nil {
			values = append(values, v)
		}
		names[v] = append(names[v], c.Name)
	}
	for _, v := range values {
		out = append(out, fmt.Sprintf("%s (%s)", v, text.Some(names[v])))
	}
	return strings.Join(out, ", ")
}

// measured is what the score of a group's runs depends on, which they have in common where
// the group has a mean.
func (g *Group) measured(score string) []rundir.Label {
	for _, r := range g.runs {
		if setting := r.Measured(score); setting != nil {
			return setting
		}
	}
	return nil
}

// chosenByTest says, where test images had no part in the selection itself, which
// candidates' weights they chose all the same.
func (sel *Selection) chosenByTest() string {
	var parts []string
	var runs []*rundir.Run
	for _, c := range sel.Candidates {
		runs = append(runs, c.group.runs...)
	}
	for _, c := range rundir.ChosenOnTest(runs) {
		parts = append(parts, fmt.Sprintf("the %s of %s", c.What, text.Some(c.Dirs)))
	}
	if parts == nil {
		return "; test images were not used in this selection"
	}
	return "; but test images chose " + strings.Join(parts, " and ")
}

// limits are notes on the scores that are selected by.
func (sel *Selection) limits() []string {
	var out []string
	var runs []*rundir.Run
	fewest, most := sel.Candidates[0].group.N, 0
	for _, c := range sel.Candidates {
		runs = append(runs, c.group.runs...)
		fewest, most = min(fewest, c.group.N), max(most, c.group.N)
	}
	if fewest < most {
		out = append(out, fmt.Sprintf("the candidates have %d to %d runs (column n): a mean over fewer runs is less certain", fewest, most))
	}
	first := runs[0]
	from, _ := first.From(rundir.KindOf(sel.Metric, runs))
	if all := rundir.SetOf(first.Manifest.Data, sel.Split).Items; all > 0 && from.Items < all {
		out = append(out, fmt.Sprintf("the selection is by %d of the %d %s images", from.Items, all, sel.Split))
	}
	out = append(out, rundir.Certain([]string{sel.Metric}, runs)...)
	for _, r := range runs {
		out = append(out, r.Left...)
		out = append(out, r.Stale()...)
	}
	return out
}
