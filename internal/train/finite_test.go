package train

import (
	"math"
	"strings"
	"testing"

	"tercet/internal/engine/loss"
	"tercet/internal/rng"
)

// An overflow names the learning rate of the loss's parameters where these have run away,
// and the network's where they have not.
func TestCauseOfAnOverflow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		beta float32
		want string
	}{{float32(math.Inf(1)), "lower loss.lr_factor"}, {float32(math.NaN()), "lower loss.lr_factor"}, {-1e20, "lower loss.lr_factor"}, {1.3, "lower optimizer.lr"}} {
		l, err := loss.NewBetaMargin(loss.BetaMarginDefaults())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Begin(2, 3, rng.New(1, "loss")); err != nil {
			t.Fatal(err)
		}
		l.Params()[0].Value.Data[1] = c.beta
		l.Params()[0].Grad.Data[2] = float32(math.NaN())
		tr := &Trainer{Objective: l, params: l.Params()}
		if err := tr.blameGradient(4); !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "gradient of loss/beta") {
			t.Errorf("boundary %v: %v", c.beta, err)
		}
	}
}
