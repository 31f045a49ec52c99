package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/fault"
	"tercet/internal/run/tinytest"
	"tercet/internal/train"
	"tercet/internal/wire"
)

// A run begins with the weights of another one, whose file it needs only for that.
func TestARunBeginsWithWeights(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "begin.safetensors")
	first := trained(t, root, "name=first")
	b, err := os.ReadFile(first.Last())
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	sets := []string{"name=second", "seed=5", "model.weights=" + file}
	cfg := tinytest.Config(t, sets...)
	if err := CheckConfig(cfg); err != nil {
		t.Fatal(err)
	}
	data, err := wire.OpenData(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	m, start, err := wire.StartModel(cfg, data.Train)
	if err != nil || start.Taken != len(m.Params()) {
		t.Fatalf("%+v, %v", start, err)
	}
	c, err := train.ReadCheckpoint(first.Last())
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.LoadModel()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range want.Params() {
		for j, v := range p.Value.Data {
			if m.Params()[i].Value.Data[j] != v {
				t.Fatalf("%s[%d] is not that of the file", p.Name, j)
			}
		}
	}
	r := create(t, root, sets...)
	interrupted(t, r, 2)
	if s := r.Manifest.Start; s == nil || s.SHA256 != start.SHA256 || s.Taken != start.Taken {
		t.Errorf("manifest: %+v", s)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	r, _ = resumed(t, r.Dir, "")
	if s := r.Manifest.Start; s == nil || s.SHA256 != start.SHA256 {
		t.Errorf("manifest after resuming: %+v", s)
	}
}

// What training refuses of weights, a check of the config refuses too, and no directory
// is made.
func TestWeightsThatDoNotFit(t *testing.T) {
	root := t.TempDir()
	other := trained(t, root, "name=other", "model={name: mlp, width: 5}")
	bad := filepath.Join(root, "bad.pth")
	if err := os.WriteFile(bad, []byte("\x80\x02cos\nsystem\n."), 0o644); err != nil {
		t.Fatal(err)
	}
	for file, c := range map[string]struct {
		kind error
		says string
		data bool // only the data show it
	}{
		filepath.Join(root, "none.pth"): {fault.ErrMissing, "not found", false},
		bad:                             {fault.ErrFormat, "it begins neither as", false},
		other.Last():                    {fault.ErrUnfit, "do not fit model", true},
	} {
		cfg := tinytest.Config(t, "name=x", "model={name: mlp, width: 6}", "model.weights="+file)
		_, err := Precheck(t.Context(), cfg, data.Open, nil)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", file, err)
		}
		if checked := CheckConfig(cfg); !c.data && !errors.Is(checked, c.kind) {
			t.Errorf("%s: the check of the config says %v", file, checked)
		}
	}
}
