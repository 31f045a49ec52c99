package record

import (
	"encoding/json"
	"testing"
)

func TestWordsOfAKind(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"best": {}}`:  "best is an object, which is of the wrong kind",
		`{"best": []}`:  "best is an array, which is of the wrong kind",
		`{"best": "x"}`: "best is a string, which is of the wrong kind",
		`[]`:            "an array is of the wrong kind",
	} {
		var d struct {
			Best int `json:"best"`
		}
		if got := Words(json.Unmarshal([]byte(text), &d)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
