package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestScoresAreBounded(t *testing.T) {
	text := []byte("{")
	for i := range maxScores + 1 {
		text = fmt.Appendf(text, `"recall@%d": {"value": 1},`, i+1)
	}
	var s Scores
	if err := json.Unmarshal(append(text[:len(text)-1], '}'), &s); err == nil || !strings.Contains(err.Error(), "more than 10000 scores") {
		t.Errorf("%d scores, error %v", len(s), err)
	}
}
