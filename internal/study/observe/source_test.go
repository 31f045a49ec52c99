package observe

import "testing"

// A key that is a number is an entry of a list, from 0.
func TestWalkIntoLists(t *testing.T) {
	doc := map[string]any{"r": map[string]any{"ci95": []any{0.25, 0.75}, "all": []any{map[string]any{"k": "a"}, map[string]any{"k": "b"}}}}
	for path, want := range map[string]any{"r.ci95.0": 0.25, "r.ci95.1": 0.75, "r.all.1.k": "b", "r.all.*.k": "a, b"} {
		if got, ok := walk(doc, path); !ok || got != want {
			t.Errorf("%s: %v %v, not %v", path, got, ok, want)
		}
	}
	for _, path := range []string{"r.ci95.2", "r.ci95.-1", "r.ci95.x", "r.ci95.0.k", "r.none"} {
		if got, ok := walk(doc, path); ok {
			t.Errorf("%s: %v, where nothing is", path, got)
		}
	}
}
