package ranks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Team is ranks that agree on what they do. Every rank calls the same methods in the
// same order.
type Team struct {
	Comm
	self string
}

// NewTeam returns the ranks of c; self says which process this is.
func NewTeam(c Comm, self string) *Team { return &Team{c, self} }

// FailedError says that another rank could not do its part.
type FailedError struct {
	Rank int
	Self string // which process it is
	Text string // why
}

func (e *FailedError) Error() string { return fmt.Sprintf("rank %d (%s): %s", e.Rank, e.Self, e.Text) }

// What a rank says at a meeting; the largest counts.
const (
	continues byte = iota
	stops
	fails
)

// Meet waits for all ranks. It returns context.Canceled where the err of one of them wraps
// it, and where a rank has failed, err to that rank and a *FailedError to the others.
func (t *Team) Meet(err error) error {
	mine := []byte{continues}
	switch {
	case errors.Is(err, context.Canceled):
		mine[0] = stops
	case err != nil:
		mine[0] = fails
	}
	all := make([]byte, t.Size())
	t.Allgather(mine, all)
	worst, first := continues, 0
	for r, said := range all {
		if said > worst {
			worst, first = said, r
		}
	}
	switch worst {
	case continues:
		return nil
	case stops:
		return context.Canceled
	}
	why := &FailedError{}
	if mine[0] == fails {
		why = &FailedError{t.Rank(), t.self, err.Error()}
	}
	var list []FailedError
	for _, text := range Strings(t, encoded(why)) {
		e := FailedError{}
		json.Unmarshal([]byte(text), &e) // what encoded has written
		list = append(list, e)
	}
	if mine[0] == fails {
		return err
	}
	return &list[first]
}

// Fact is something that all ranks must have in common.
type Fact struct{ Name, Value string }

// MixedError says that two ranks differ.
type MixedError struct {
	Name   string
	Ranks  [2]int
	Selves [2]string
	Values [2]string
}

func (e *MixedError) Error() string {
	return fmt.Sprintf("the ranks do not have the same %s: rank %d (%s) has %s, rank %d (%s) has %s",
		e.Name, e.Ranks[0], e.Selves[0], e.Values[0], e.Ranks[1], e.Selves[1], e.Values[1])
}

// Same returns a *MixedError, the same on all ranks, where a fact of one of them is not
// that of rank 0. All give the same names.
func (t *Team) Same(facts ...Fact) error {
	type told struct {
		Self  string
		Facts []Fact
	}
	list := make([]told, t.Size())
	for r, text := range Strings(t, encoded(told{t.self, facts})) {
		json.Unmarshal([]byte(text), &list[r]) // what encoded has written
	}
	for i, want := range list[0].Facts {
		for r, rank := range list {
			if got := rank.Facts[i]; got != want {
				return &MixedError{want.Name, [2]int{0, r}, [2]string{list[0].Self, rank.Self}, [2]string{want.Value, got.Value}}
			}
		}
	}
	return nil
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	return string(b)
}
