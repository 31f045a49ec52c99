package base

import (
	"fmt"

	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/render"
)

// LabelSource says in the title of which images and weights of a run the numbers are, and
// in CSV in each row where they are not those of all test images and the last checkpoint.
func LabelSource(t *render.Table, s record.Source) {
	if s.Checkpoint == "" {
		return // no run
	}
	said := fmt.Sprintf("%s images, checkpoint %s (step %d)", s.Set, s.Checkpoint, s.Step)
	if s.Whole > s.Items {
		said += fmt.Sprintf(", %d of %d images", s.Items, s.Whole)
	}
	t.Title += ", " + said
	if s.Set == names.Test && s.Checkpoint == names.Last && s.Whole <= s.Items {
		return
	}
	for range t.Rows {
		t.RowNotes = append(t.RowNotes, said)
	}
}
