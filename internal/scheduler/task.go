package scheduler

import (
	"strconv"
	"strings"

	"tercet/internal/lists"
	"tercet/internal/option"
)

// Auto in place of a task's index stands for the one that the scheduler gives.
const Auto = "auto"

// Task is share Index of Of, Index from 1; the zero value is the whole.
type Task struct{ Index, Of int }

// Has reports whether item k, from 0, belongs to the share: every Of-th does.
func (t Task) Has(k int) bool { return t.Of == 0 || k%t.Of == t.Index-1 }

// ParseTask reads "i/n", or "auto/n" with the index that getenv finds in the variables of
// Systems; "" is the whole. The n is never a scheduler's: it changes when a part of an
// array is submitted again, and shares would shift. Errors are *option.Error.
func ParseTask(text string, getenv func(string) string) (Task, error) {
	if text == "" {
		return Task{}, nil
	}
	index, of, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(of)
	if !ok || err != nil || n < 1 {
		return Task{}, notATask(text)
	}
	if index == Auto {
		return given(n, getenv)
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 1 || i > n {
		return Task{}, notATask(text)
	}
	return Task{i, n}, nil
}

func notATask(text string) error {
	return option.Errorf("task %q is neither i/n with i from 1 to n nor auto/n; with an index that counts from 0, add 1", text)
}

// given is the task of n whose index a scheduler gives.
func given(n int, getenv func(string) string) (Task, error) {
	var from System
	var at int // 0 before an index is found
	for _, s := range Systems {
		value := getenv(s.Index)
		if value == "" || value == s.Unset {
			continue
		}
		i, err := strconv.Atoi(value)
		if err != nil || i < s.First || i >= s.First+n {
			return Task{}, option.Errorf("%s is %q, but the indices of %d tasks of %s are %d to %d; give the array these indices, or the task as i/%d", s.Index, value, n, s.Name, s.First, s.First+n-1, n)
		}
		if i += 1 - s.First; at != 0 && i != at {
			return Task{}, option.Errorf("two schedulers give different tasks: %s is %s (task %d of %d), %s is %s (task %d of %[4]d); unset one of them, or give the task as i/%[4]d",
				from.Index, getenv(from.Index), at, n, s.Index, value, i)
		}
		from, at = s, i
	}
	if at == 0 {
		return Task{}, option.Errorf("task %s/%d, but no scheduler gives an index: none of %s is set; give the task as i/%[2]d", Auto, n, indices())
	}
	return Task{at, n}, nil
}

// indices names the variables of all systems.
func indices() string {
	out := lists.Map(Systems, func(s System) string { return s.Index })
	return strings.Join(out, ", ")
}
