package config

import (
	"reflect"
	"strings"
	"testing"

	"tercet/internal/component"
	"tercet/internal/engine/nn"
)

// Resolved configs leave keys with a tag omit out where they have its value, and what is
// left out reads as that value again: it is the default.
func TestOmittedValuesAreDefaults(t *testing.T) {
	t.Parallel()
	found := 0
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		for _, f := range fields(v.Type()) {
			if component.IsSection(f.typ) {
				visit(v.Field(f.index), path+f.name+".")
				continue
			}
			if want, ok := f.tag.Lookup("omit"); ok {
				found++
				if got := (leaf{v: v.Field(f.index), f: f}).text(); got != want {
					t.Errorf("%s%s: the default is %s, left out is %s", path, f.name, got, want)
				}
			}
		}
	}
	visit(reflect.ValueOf(mustLoad(t, "name: x")).Elem(), "")
	for name, family := range families {
		for _, c := range family {
			visit(reflect.ValueOf(c.Defaults), name+" "+c.Name+" ")
		}
	}
	if found == 0 {
		t.Error("no key has a tag omit")
	}
}

func TestResNetKeysInResolved(t *testing.T) {
	t.Parallel()
	plain := string(checkFixedPoint(t, mustLoad(t, "model: resnet18")))
	for _, key := range []string{"pool", "head", "mean_std"} {
		if strings.Contains(plain, key) {
			t.Errorf("%s is in the resolved config of a plain resnet18, whose bytes are those of older versions:\n%s", key, plain)
		}
	}
	c := mustLoad(t, "model: {name: resnet50, pool: avg+max, head: layernorm-linear, mean_std: {name: values, mean: [104, 117, 128], std: [1, 1, 1], scale: 255, order: bgr}}")
	text := string(checkFixedPoint(t, c))
	for _, line := range []string{"pool: avg+max", "head: layernorm-linear", "  mean_std:\n    name: values\n    mean: [104, 117, 128]\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	var s nn.Spec
	c.Model.Options.(nn.Setter).Set(&s)
	if s.Pool != "avg+max" || s.Head != "layernorm-linear" || !s.MeanStd.BGR || s.MeanStd.Mean[1] != 117./255 || s.MeanStd.Std[2] != 1./255 {
		t.Errorf("%+v %+v", s, s.MeanStd)
	}
	s = nn.Spec{}
	mustLoad(t, "model: {name: resnet34, mean_std: imagenet}").Model.Options.(nn.Setter).Set(&s)
	if s.Pool != "" || s.Head != "" || s.MeanStd.Mean[0] != 0.485 {
		t.Errorf("%+v", s)
	}
	for text, want := range map[string]string{
		"model: {name: resnet50, mean_std: {name: values, mean: [0.5], std: [1, 1]}}": "model.mean_std.std: has 2 values and mean has 1",
		"model: {name: resnet50, mean_std: imgnet}":                                   "did you mean imagenet?",
	} {
		if _, err := LoadBytes([]byte(text), "x.yaml", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
