package attack

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/scheduler"
)

// The parts of tasks, through JSON, merge into the result of one process, to the bit: all
// attacks, both variants, draws of targets.
func TestSharesAreOneProcess(t *testing.T) {
	t.Parallel()
	x := newTried()
	x.o.Attacks, x.o.Draws, x.o.Together, x.o.Batch, x.o.Pictures = ersAttacks, 2, 5, 10, 0
	whole, err := Run(context.Background(), x.m, x.s, x.g, x.o)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3, 5} {
		var parts []*record.AttackPart
		for i := range n {
			p, err := RunShare(context.Background(), x.m, x.s, x.g, x.o, scheduler.Task{Index: i + 1, Of: n})
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			back := new(record.AttackPart)
			if err := json.Unmarshal(b, back); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, back)
		}
		merged, err := Merge(context.Background(), x.m, x.s, x.g, x.o, parts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole.Attacks {
			whole.Attacks[i].Seconds, merged.Attacks[i].Seconds = 0, 0
		}
		if !reflect.DeepEqual(whole, merged) {
			t.Errorf("%d tasks: %+v, want %+v", n, merged.Attacks, whole.Attacks)
		}
		parts[0].First++
		if _, err := Merge(context.Background(), x.m, x.s, x.g, x.o, parts); err == nil || !strings.Contains(err.Error(), "task 1/") {
			t.Errorf("other queries: error %v", err)
		}
	}
	if _, err := RunShare(context.Background(), x.m, x.s, x.g, x.o, scheduler.Task{Index: 1, Of: 9}); err == nil || !strings.Contains(err.Error(), "work for at most 5 tasks") {
		t.Errorf("9 tasks: error %v", err)
	}
}
