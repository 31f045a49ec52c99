package report

import (
	"fmt"
	"path/filepath"
	"slices"

	"tercet/internal/render"
)

// parts says which clusterings are of a part of the test images only, those of one
// part in one note.
func parts(runs []*RunDir) []string {
	var kinds []string
	of := map[string][]string{}
	whole := 0
	for _, r := range runs {
		for _, c := range r.Clusterings {
			from, all := c.Result.Source, r.Manifest.Data.Test.Items
			if from.Set != "" && from.Set != "test" || from.Items >= all {
				whole++
				continue
			}
			kind := fmt.Sprintf("%d of the %d test images of %s", from.Items, all, r.Manifest.Data.Name)
			if of[kind] == nil {
				kinds = append(kinds, kind)
			}
			of[kind] = append(of[kind], c.File)
		}
	}
	if len(kinds) == 1 && whole == 0 {
		return []string{"all clusterings are of " + kinds[0]}
	}
	var out []string
	for _, kind := range kinds {
		out = append(out, fmt.Sprintf("of %s: %s", kind, render.Listed(of[kind])))
	}
	return out
}

// passedOver names the clusterings in the runs' own directories that do not count
// because there are folders.
func passedOver(runs []*RunDir) []string {
	var files []string
	for _, r := range runs {
		own := filepath.Join(r.Dir, "cluster.json")
		if r.Cluster != nil && len(r.Clusterings) > 0 && r.Clusterings[0].File != own {
			files = append(files, own)
		}
	}
	if files == nil {
		return nil
	}
	return []string{fmt.Sprintf("not counted, because their runs have %sMETHOD folders: %s", clusterFolder, render.Listed(files))}
}

// eachClustering has a run for each clustering, in the name of its file.
func eachClustering(runs []*RunDir) []*RunDir {
	var out []*RunDir
	for _, r := range runs {
		for _, c := range r.Clusterings {
			out = append(out, &RunDir{Dir: c.File, Clusterings: []Clustering{c}})
		}
	}
	return out
}

// unlikeRows says where a way of clustering has other options in other rows of its data.
func (s *ClusterStudy) unlikeRows() []string {
	var out, done []string
	for _, first := range s.Rows {
		what := first.Data + ", " + first.Method
		if slices.Contains(done, what) {
			continue
		}
		done = append(done, what)
		rows := 0
		var settings [][]Label
		var names []string
		for _, row := range s.Rows {
			if row.Data != first.Data || row.Method != first.Method {
				continue
			}
			rows++
			for i, setting := range row.settings {
				bare := slices.DeleteFunc(slices.Clone(setting), func(l Label) bool { return l.Key == imagesPart })
				settings, names = append(settings, bare), append(names, row.Dirs[i])
			}
		}
		if _, why := unlikeParts(settings, names); why != "" && rows > 1 {
			out = append(out, what+": rows are not clustered alike: "+why)
		}
	}
	return out
}

// caution is what is to be said of a row's runs.
func (row *StudyRow) caution(all []StudyRow) string {
	settings := map[*RunDir][]Label{}
	var runs []*RunDir
	for _, other := range all {
		if other.Data != row.Data || other.Method != row.Method {
			continue
		}
		for i, r := range other.runs {
			settings[r], runs = other.settings[i], append(runs, r)
		}
	}
	return rowCautions(row.runs, unlikeRows(runs, []string{"cluster"}, func(r *RunDir, _ string) []Label { return settings[r] }))
}
