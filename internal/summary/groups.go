package summary

import (
	"fmt"
	"slices"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/option"
	"tercet/internal/record"
	"tercet/internal/rundir"
	"tercet/internal/text"
)

// group fills Groups, in the order of their first runs; perRun makes each run one.
func (s *Summary) group(runs []*rundir.Run, perRun bool) {
	byID := map[string]*Group{}
	for i, r := range runs {
		var id strings.Builder
		if perRun {
			fmt.Fprintf(&id, "%d;", i)
		}
		if len(s.GroupBy) == 0 {
			for _, l := range r.Labels {
				if l.Key != "name" && l.Key != "seed" {
					fmt.Fprintf(&id, "%q=%q;", l.Key, l.Setting())
				}
			}
		}
		for _, k := range s.GroupBy {
			v, ok := r.Label(k)
			fmt.Fprintf(&id, "%t%q;", ok, v)
		}
		g := byID[id.String()]
		if g == nil {
			g = emptyGroup()
			byID[id.String()] = g
			s.Groups = append(s.Groups, g)
		}
		g.take(r)
	}
	for _, g := range s.Groups {
		n := float64(g.N)
		for _, r := range g.runs {
			g.Seconds += r.Manifest.Seconds / n
			g.Forward += float64(r.Manifest.Cost.Forward) / n
			g.Backward += float64(r.Manifest.Cost.Backward) / n
		}
	}
	s.name()
	s.differences(runs)
}

func emptyGroup() *Group {
	return &Group{Labels: map[string]string{}, Status: map[record.Status]int{}, Scores: map[string]Estimate{}}
}

func (g *Group) take(r *rundir.Run) {
	g.runs = append(g.runs, r)
	g.N++
	g.Dirs = append(g.Dirs, r.Dir)
	g.Seeds = append(g.Seeds, r.Manifest.Seed)
	g.Status[r.Manifest.Status]++
}

// name gives each group a name.
func (s *Summary) name() {
	groups := lists.Map(s.Groups, func(g *Group) []*rundir.Run { return g.runs })
	for i, name := range rundir.GroupNames(groups) {
		s.Groups[i].Name = name
	}
}

// maxColumns bounds the keys that stand as columns of the table.
const maxColumns = 4

// differences finds the keys that tell the groups apart.
func (s *Summary) differences(runs []*rundir.Run) {
	keys := s.GroupBy
	if len(keys) == 0 {
		for _, r := range runs {
			for _, l := range r.Labels {
				if l.Key != "name" && l.Key != "seed" && !slices.Contains(keys, l.Key) {
					keys = append(keys, l.Key)
				}
			}
		}
	}
	for _, k := range keys {
		differs := len(s.GroupBy) > 0
		first, had := s.value(s.Groups[0], k)
		for _, g := range s.Groups {
			v, ok := s.value(g, k)
			differs = differs || v != first || ok != had
		}
		if !differs {
			continue
		}
		s.columns = append(s.columns, k)
		for _, g := range s.Groups {
			if v, ok := s.value(g, k); ok {
				g.Labels[k] = v
			}
		}
	}
	if len(s.GroupBy) == 0 && len(s.columns) > maxColumns {
		s.Notes = append(s.Notes, fmt.Sprintf("the groups differ in %d config keys that are not shown: %s; %s chooses", len(s.columns), text.Some(s.columns), option.Name("group-by")))
		s.columns = nil
	}
}

// value is what a group's runs have in common of a key.
func (s *Summary) value(g *Group, key string) (string, bool) {
	v, ok := g.runs[0].Label(key)
	if len(s.GroupBy) == 0 {
		v = rundir.Label{Key: key, Value: v}.Setting()
	}
	return v, ok
}

// selection is what a row says of its runs' selection on test images.
func (g *Group) selection() string { return rundir.SelectedOn(g.runs) }
