package evaluate

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/record"
	"tercet/internal/run/runtest"
	"tercet/internal/run/tinytest"
)

func TestStoredEval(t *testing.T) {
	r := runtest.Trained(t, t.TempDir(), "eval.bootstrap=20")
	o := Defaults(r.Config)
	o.Bootstrap = 20
	e, err := Eval(context.Background(), r, "last", "test", o, tinytest.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(e.Doc.Warnings, "\n"); !strings.Contains(w, "from 20 resamples and mean little; give eval.bootstrap 100 or more") {
		t.Errorf("warnings %q", w)
	}
	if Coarse(record.EvalOptions{}) != nil || Coarse(record.EvalOptions{Bootstrap: 100}) != nil {
		t.Error("none and 100 resamples are warned of")
	}
	path := filepath.Join(t.TempDir(), "eval.json")
	if err := record.Write(path, e.Doc); err != nil {
		t.Fatal(err)
	}
	d, _ := record.ReadKept[record.Eval](path)
	if d == nil || !record.SameJSON(d, e.Doc) || !d.Holds(o) {
		t.Fatalf("%+v", d)
	}
}
