package optim

import (
	"math"

	"tercet/internal/component"
)

func init() {
	Schedules.Register(component.Component[ScheduleKeys]{Name: "plateau", Doc: "drops where the score of validation images no longer rises", Defaults: PlateauDefaults()})
}

// Plateau multiplies the learning rate by Factor when the monitored score of the validation
// images has not risen for more than Patience evaluations, as PyTorch's ReduceLROnPlateau
// with mode max and threshold_mode abs.
type Plateau struct {
	Factor   float64 `yaml:"factor" check:">0,<1" doc:"factor by which the learning rate drops"`
	Patience int     `yaml:"patience" check:">=0,<=1000000" doc:"number of evaluations without improvement before the learning rate drops"`
	MinDelta float64 `yaml:"min_delta" check:">=0" doc:"smallest difference of the score that counts as a rise"`
	Cooldown int     `yaml:"cooldown" check:">=0,<=1000000" doc:"number of evaluations to ignore after a drop"`
	MinLR    float64 `yaml:"min_lr" check:">=0" doc:"the learning rate is not dropped below this"`
}

// PlateauDefaults returns PyTorch's factor 0.1 and patience 10.
func PlateauDefaults() Plateau { return Plateau{Factor: 0.1, Patience: 10, MinDelta: 1e-4} }

// FollowsScores is implemented by the keys of schedules that follow the scores of
// evaluations.
type FollowsScores interface {
	// Look takes a further score into account.
	Look(s *PlateauState, score float64)
	// Lower returns the learning rate lr after them.
	Lower(lr float64, s PlateauState) float64
}

// PlateauState is what a Plateau knows of the evaluations so far.
type PlateauState struct {
	Best     *float64 `json:"best,omitempty"`
	Bad      int      `json:"bad"`      // evaluations since the best one, or since the last drop
	Cooldown int      `json:"cooldown"` // evaluations that are not counted
	Drops    int      `json:"drops"`
}

// Look implements FollowsScores.
func (k Plateau) Look(s *PlateauState, score float64) {
	if s.Best == nil || score > *s.Best+k.MinDelta {
		s.Best, s.Bad = &score, 0
	} else {
		s.Bad++
	}
	if s.Cooldown > 0 {
		s.Cooldown--
		s.Bad = 0
	}
	if s.Bad > k.Patience {
		s.Drops++
		s.Cooldown, s.Bad = k.Cooldown, 0
	}
}

// Lower implements FollowsScores: after the drops.
func (k Plateau) Lower(lr float64, s PlateauState) float64 {
	return max(lr*math.Pow(k.Factor, float64(s.Drops)), min(lr, k.MinLR))
}

// Fit implements ScheduleFitter.
func (k Plateau) Fit(c Course) []component.Fault {
	if k.MinLR > c.LR {
		return []component.Fault{component.Faultf("min_lr", "is larger than optimizer.lr (%s)", component.Number(c.LR))}
	}
	return nil
}

func (Plateau) rate(s Schedule, step int) float64 { return s.Base }
