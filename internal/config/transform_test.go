package config

import (
	"strings"
	"testing"
)

const streamed = `name: x
data:
  name: folder
  root: somewhere
  transform:
    train:
      - RandomResizedCrop(224, scale=(0.2, 1))
      - RandomHorizontalFlip
    test: [Resize(256), CenterCrop(224)]
`

// Steps are read, written with the resolved config, which reads back, and take the place
// of the keys that change images; without them the resolved config does not mention them.
func TestTransform(t *testing.T) {
	c := mustLoad(t, streamed)
	text, err := c.Resolved()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`train: ["RandomResizedCrop(224, scale=(0.2, 1))", RandomHorizontalFlip]`, `test: ["Resize(256)", "CenterCrop(224)"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("resolved config lacks %s", want)
		}
	}
	for _, not := range []string{"  size:", "  fit:", "augment:", "distort:"} {
		if strings.Contains(string(text), not) {
			t.Errorf("resolved config has %s, which counts for nothing", not)
		}
	}
	again := mustLoad(t, string(text))
	if b, _ := again.Resolved(); string(b) != string(text) {
		t.Errorf("reads back as\n%s", b)
	}
	if s := again.Data.Steps(); len(s.Train) != 2 || len(s.Test) != 2 {
		t.Errorf("%+v", s)
	}
	plain, _ := mustLoad(t, "data: {transform: {train: []}}").Resolved()
	if strings.Contains(string(plain), "transform") || mustLoad(t, "seed: 1").Data.Steps() != nil {
		t.Error("a config without steps mentions them")
	}
	one := mustLoad(t, streamed, "data.transform.train=[]")
	if s := one.Data.Steps(); s.Train != nil || len(s.Test) != 2 {
		t.Errorf("%+v", s)
	}
}

func TestTransformMistakes(t *testing.T) {
	for set, want := range map[string]string{
		"data.transform.test=[]":                                        "data.transform.test must be set",
		"data.transform.test=[Resize(256)]":                             "data.transform.test images keep different sizes",
		"data.transform.test=[Resize(256), RandomCrop(224)]":            "data.transform.test has a random step",
		"data.transform.test=[Resise(256)]":                             `data.transform.test step 1: unknown step "Resise"; did you mean Resize?`,
		"data.transform.test=[CenterCrop(200)]":                         "data.transform.train transform.train gives images of 224x224 and transform.test of 200x200",
		"data.transform.train=[RandomResizedCrop(224, scale=(0.2, 1))]": "no closing parenthesis",
		"data.transform.train=RandomCrop(224)":                          "must be a list",
		"data.size=256":                                                 "data.size changes images, and data.transform takes its place",
		"data.augment.flip=true":                                        "data.augment.flip changes images, and data.transform takes its place",
		"data.distort.strength=0.5":                                     "data.distort.strength changes images",
		"data=glyphs":                                                   "data.transform.test changes images that are read, and data glyphs has none",
	} {
		_, err := LoadBytes([]byte(streamed), "f.yaml", []string{set})
		if set == "data=glyphs" {
			_, err = LoadBytes([]byte(strings.Replace(strings.Replace(streamed, "folder", "glyphs", 1), "  root: somewhere\n", "", 1)), "f.yaml", nil)
		}
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), ": ", " "), strings.ReplaceAll(want, ": ", " ")) {
			t.Errorf("%s: error %v, want %q", set, err, want)
		}
	}
}
