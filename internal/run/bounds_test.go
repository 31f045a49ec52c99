package run_test

import (
	"strings"
	"testing"

	"tercet/internal/run"
	"tercet/internal/run/tinytest"
)

// A network without interval bounds is refused with defense ibp before the data are known,
// as training refuses it.
func TestCheckConfigKnowsBounds(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{"cnn": "layer pad (pad)", "resnet18": "layer", "mlp": "", "small": ""} {
		err := run.CheckConfig(tinytest.Config(t, "model="+model, "defense=ibp"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", model, err, want)
		}
	}
}
