package names

import "testing"

func TestResult(t *testing.T) {
	for _, c := range []struct{ split, checkpoint, want string }{
		{"test", "last", "eval"}, {"", "", "eval"}, {"validation", "last", "eval-validation"},
		{"test", "best", "eval-best"}, {"train", "best", "eval-train-best"},
	} {
		if got := Result("eval", c.split, c.checkpoint); got != c.want {
			t.Errorf("split %q, checkpoint %q: %s, want %s", c.split, c.checkpoint, got, c.want)
		}
	}
}
