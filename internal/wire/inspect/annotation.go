package inspect

import (
	"context"
	"fmt"
	"slices"

	"tercet/internal/config"
	"tercet/internal/data/annotated"
	"tercet/internal/data/fault"
	"tercet/internal/data/table"
	"tercet/internal/progress"
	"tercet/internal/record"
	"tercet/internal/record/printed"
)

// Annotation describes the annotation of a config's source, an annotated.Source, and
// decodes all images if asked to. Where images cannot be decoded the document is complete
// and comes with the error, that names them.
func Annotation(ctx context.Context, cfg *config.Config, images bool, say progress.Say) (*printed.Inspected, error) {
	src, ok := cfg.Data.Options.(annotated.Source)
	if !ok {
		return nil, &config.Error{Key: "data.name", Msg: fmt.Sprintf("is %s, which has no annotation: its images must be read", cfg.Data.Name)}
	}
	read := src.Annotation
	if images {
		read = func() (*table.Table, error) { return annotated.Files(src) }
	}
	t, err := read()
	if err != nil {
		return nil, err
	}
	a := &printed.Annotation{Root: t.Root, Shared: len(t.Overlap()), Lost: t.Lost(), Fingerprint: t.Fingerprint()}
	d := &printed.Inspected{Schema: record.DataSchema, Config: cfg.Name, Name: cfg.Data.Name, Annotation: a, Warnings: t.Notes}
	countAnnotated(a, t)
	if a.Lost > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("queries that have no other image of their class in the gallery, and are left out: %d", a.Lost))
	}
	if !images {
		return d, nil
	}
	files, err := annotated.Survey(ctx, t, func(n int) { say("images", n, len(t.Items)) })
	if err != nil {
		return nil, err
	}
	return d, addFiles(d, t, files, cfg.Data.SkipBroken)
}

// rolesOf are the roles to describe: queries and gallery apart only where they differ.
func rolesOf(t *table.Table) []table.Role {
	out := []table.Role{table.Train}
	if slices.ContainsFunc(t.Items, func(it table.Item) bool { return it.Role == table.Query || it.Role == table.Gallery }) {
		return append(out, table.Query, table.Gallery)
	}
	return append(out, table.Test)
}

func countAnnotated(a *printed.Annotation, t *table.Table) {
	categories, sequences := map[string]bool{}, map[string]bool{}
	for i := range t.Items {
		it := &t.Items[i]
		categories[it.Category], sequences[it.Sequence] = true, true
		if !it.Box.Empty() {
			a.Boxes++
		}
	}
	delete(categories, "")
	delete(sequences, "")
	a.Categories, a.Sequences = len(categories), len(sequences)
	for _, role := range rolesOf(t) {
		a.Roles = append(a.Roles, roleStats(t, role))
	}
}

func roleStats(t *table.Table, role table.Role) printed.RoleStats {
	n := t.Count(role)
	r := printed.RoleStats{Role: role.String(), Images: n.Images, Classes: n.Classes}
	sizes := make([]int, len(t.Classes))
	for _, i := range t.Pick(role) {
		sizes[t.Items[i].Label]++
	}
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return n == 0 })
	slices.Sort(sizes)
	if n := len(sizes); n > 0 {
		r.PerClassMin, r.PerClassMed, r.PerClassMax = sizes[0], float64(sizes[n/2]+sizes[(n-1)/2])/2, sizes[n-1]
	}
	for _, n := range sizes {
		if n == 1 {
			r.Singles++
		}
	}
	return r
}

// addFiles adds what images are, and returns an error that names those that cannot be read;
// where such are skipped, it is a warning.
func addFiles(d *printed.Inspected, t *table.Table, files []annotated.File, skip bool) error {
	a := d.Annotation
	for k, role := range rolesOf(t) {
		r := &a.Roles[k]
		r.Modes = map[string]int{}
		for _, i := range t.Pick(role) {
			addFile(r, &files[i])
		}
	}
	var broken, oriented, other []int
	for i := range files {
		switch f := &files[i]; {
		case f.Err != nil:
			broken = append(broken, i)
			a.Unreadable = append(a.Unreadable, t.Items[i].Path)
			continue
		case f.Mode != "RGB":
			other = append(other, i)
			a.OtherModes = append(a.OtherModes, t.Items[i].Path)
		}
		if files[i].Orientation != 1 {
			oriented = append(oriented, i)
			a.Oriented = append(a.Oriented, t.Items[i].Path)
		}
	}
	same, misplaced := annotated.Copies(t, files)
	n := len(same)
	a.Copies, a.Misplaced = &n, &misplaced
	warn := func(items []int, what string) {
		if len(items) > 0 {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %d: %s", what, len(items), t.Names(items)))
		}
	}
	warn(other, "images that are not RGB and are converted")
	warn(oriented, "images whose EXIF data ask to be turned, which is not done")
	warn(same, "images whose file equals an earlier one")
	if misplaced > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("of these, in another class or in both training and test: %d", misplaced))
	}
	if skip {
		warn(broken, "images that cannot be decoded and are left out")
	} else if len(broken) > 0 {
		return fault.Of(fault.ErrFormat, files[broken[0]].Err, "%d of %d images cannot be decoded: %s; the first", len(broken), len(files), t.Names(broken))
	}
	return nil
}

func addFile(r *printed.RoleStats, f *annotated.File) {
	if f.Err != nil {
		return
	}
	r.Modes[f.Mode]++
	r.Bytes += int64(f.Bytes)
	if short := min(f.H, f.W); r.Shortest == 0 || short < r.Shortest {
		r.Shortest = short
	}
	r.Longest = max(r.Longest, f.H, f.W)
}
