package generalize

import (
	"errors"
	"strings"
	"testing"

	"tercet/internal/config"
	"tercet/internal/data"
)

// A loss that no triplet has a value of is refused, with those that are not.
func TestLossWithoutTriplets(t *testing.T) {
	t.Parallel()
	cfg, err := config.LoadBytes([]byte("loss: multi-similarity\n"), "x.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = newTripletLoss(cfg, nil)
	if !errors.Is(err, data.ErrUnfit) || !strings.Contains(err.Error(), "loss multi-similarity has no value on a single triplet") || !strings.HasSuffix(err.Error(), "triplet, triplet-capped, triplet-threshold, contrastive, cosine, triplet-robust") {
		t.Error(err)
	}
}
