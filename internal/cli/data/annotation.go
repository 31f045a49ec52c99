package data

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tercet/internal/record/printed"
	"tercet/internal/render"
	"tercet/internal/text"
)

// annotationTable shows the roles of an annotation, each in a column.
func annotationTable(d *printed.Inspected) *render.Table {
	a := d.Annotation
	t := &render.Table{Title: fmt.Sprintf("%s: %s", d.Name, a.Root), Columns: []render.Column{{Name: "what"}}}
	add := func(what string, show func(r *printed.RoleStats) string) {
		row := []render.Cell{render.Text(what)}
		for k := range a.Roles {
			row = append(row, render.Text(show(&a.Roles[k])))
		}
		t.Rows = append(t.Rows, row)
	}
	modes := map[string]bool{}
	for _, r := range a.Roles {
		t.Columns = append(t.Columns, render.Column{Name: r.Role})
		for m := range r.Modes {
			modes[m] = true
		}
	}
	add("images", func(r *printed.RoleStats) string { return strconv.Itoa(r.Images) })
	add("classes", func(r *printed.RoleStats) string { return strconv.Itoa(r.Classes) })
	add("images per class: min, median, max", func(r *printed.RoleStats) string {
		return fmt.Sprintf("%d, %g, %d", r.PerClassMin, r.PerClassMed, r.PerClassMax)
	})
	add("classes of one image", func(r *printed.RoleStats) string { return strconv.Itoa(r.Singles) })
	if a.Copies != nil {
		for _, m := range slices.Sorted(maps.Keys(modes)) {
			add(m, func(r *printed.RoleStats) string { return strconv.Itoa(r.Modes[m]) })
		}
		add("sides: shortest, longest", func(r *printed.RoleStats) string { return fmt.Sprintf("%d, %d", r.Shortest, r.Longest) })
		add("megabytes", func(r *printed.RoleStats) string { return fmt.Sprintf("%.1f", float64(r.Bytes)/1e6) })
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%s in both training and test", text.Plural(a.Shared, "class", "classes")))
	for _, n := range []struct {
		count     int
		one, more string
	}{{a.Categories, "category", "categories"}, {a.Sequences, "sequence", "sequences"}, {a.Boxes, "box", "boxes"}} {
		if n.count > 0 {
			t.Notes = append(t.Notes, text.Plural(n.count, n.one, n.more))
		}
	}
	if a.Copies != nil {
		t.Notes = append(t.Notes, fmt.Sprintf("equal files: %d; unreadable: %d; turned by EXIF: %d, not applied", *a.Copies, len(a.Unreadable), len(a.Oriented)))
	} else {
		t.Notes = append(t.Notes, "no image was looked for")
	}
	t.Notes = append(t.Notes, fmt.Sprintf("fingerprint: %.16s", a.Fingerprint))
	return t
}
