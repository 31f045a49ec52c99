package train

import (
	"fmt"

	"tercet/internal/engine/optim"
)

// lowered is the learning rate of a step of the schedule, after the drops that evaluations
// have led to.
func (t *Trainer) lowered(step int) float64 {
	lr := t.Schedule(step)
	if t.Plateau == nil || t.State.Plateau == nil {
		return lr
	}
	return t.Plateau.Lower(lr, *t.State.Plateau)
}

// lookAtPlateau gives the monitored score of an evaluation to the schedule.
func (t *Trainer) lookAtPlateau(score float64) error {
	if t.Plateau == nil {
		return nil
	}
	if t.Evaluated != "validation" {
		return fmt.Errorf("optimizer.schedule plateau follows scores of validation images, and %s images are evaluated: set data.split.validation", t.Evaluated)
	}
	if t.State.Plateau == nil {
		t.State.Plateau = &optim.PlateauState{}
	}
	t.Plateau.Look(t.State.Plateau, score)
	return nil
}
