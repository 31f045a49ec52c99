package train

import (
	"bytes"
	"testing"
	"time"

	"tercet/internal/cli/base/basetest"
	"tercet/internal/config"
	"tercet/internal/run"
	"tercet/internal/train"
)

func TestSharesOfRunsInTraining(t *testing.T) {
	v := &manyView{at: map[int]float64{4: 0.06, 1: 0.99}}
	if got := v.shares(); got != "in training: 99 %, 6 %" {
		t.Errorf("got %q", got)
	}
}

func TestABarOverRunsTrainedAtOnce(t *testing.T) {
	var b bytes.Buffer
	s, pass := basetest.Clock(&b)
	v := newManyView(s, []*config.Config{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}})
	v.ended(run.Ended{Variant: 0, Done: true}) // before: tells nothing of the time
	one, two := v.watch(1), v.watch(2)
	one.Note("data: %d images", 3)
	two.Note("data: %d images", 4)
	for i := range 6 {
		pass(time.Second)
		one.Step(&train.State{Step: i + 1}, 10, 0.5)
		two.Step(&train.State{Step: i + 1}, 100, 0.5)
	}
	pass(time.Second)
	v.ended(run.Ended{Variant: 1})
	pass(3 * time.Second)
	two.Step(&train.State{Step: 50}, 100, 0.5)
	v.ended(run.Ended{Variant: 2})
	pass(5 * time.Second)
	v.ended(run.Ended{Variant: 3, Err: train.ErrInterrupted})
	v.end()
	want := "b: data: 3 images\n" +
		"sweep: 1/4 (25 %), 5s, about 23s left; in training: 50 %, 4 %\n" +
		"sweep: 2/4 (50 %), 10s, about 10s left; in training: 50 %\n" +
		"sweep: 3/4 (75 %), 15s, about 7.5s left\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
