package clustering

import (
	"tercet/internal/cluster/solve"
	"tercet/internal/names"
	"tercet/internal/run"
)

// CheckClusters refuses more clusters than the split, or the part of it by limit, has
// images: before any work, and before a result that is there is looked at.
func CheckClusters(r *run.Run, k int, split string, limit int) error {
	n := 0
	switch d := r.Manifest.Data; {
	case split == "train":
		n = d.Train.Items
	case split == names.Test:
		n = d.Test.Items
	case d.Validation != nil:
		n = d.Validation.Items
	}
	if limit > 0 {
		n = min(n, limit)
	}
	if n > 0 && k > n { // 0: what embeds the images says what there is
		return solve.TooMany(k, n)
	}
	return nil
}
