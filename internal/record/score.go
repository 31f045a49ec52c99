package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Value is one measured number, as result documents hold it.
type Value struct {
	Value      float64     `json:"value" doc:"the number"`
	CI95       *[2]float64 `json:"ci95,omitempty" doc:"95 % interval"`
	Definition string      `json:"definition" doc:"id of its definition"`
}

// Score is a Value under the key that people use, such as "recall@1".
type Score struct {
	Key string
	Value
}

// Scores is an ordered list of scores. Its JSON is one object in that order.
type Scores []Score

// Get returns the score of a key.
func (s Scores) Get(key string) (Value, bool) {
	for i := range s {
		if s[i].Key == key {
			return s[i].Value, true
		}
	}
	return Value{}, false
}

// MarshalJSON writes {"recall@1": {"value": ...}, ...} in the list's order. A
// value that is not finite is an error.
func (s Scores) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range s {
		if v := s[i].Value.Value; math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("score %s is %v", s[i].Key, v)
		}
		key, err := json.Marshal(s[i].Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(s[i].Value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// maxScores bounds the scores of a document, each of which is compared with all others.
const maxScores = 10_000

// UnmarshalJSON reads what MarshalJSON writes. It refuses scores without a value,
// half intervals and keys that stand twice: a zero in their place would look like a
// result.
func (s *Scores) UnmarshalJSON(b []byte) error {
	if bytes.Equal(bytes.TrimSpace(b), []byte("null")) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("scores are an object of name and value, not %.40s", b)
	}
	var out Scores
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		if len(out) == maxScores {
			return fmt.Errorf("more than %d scores: no result has so many", maxScores)
		}
		key, _ := t.(string) // keys of an object are strings
		var v struct {
			Value      *float64   `json:"value"`
			CI95       []*float64 `json:"ci95"`
			Definition string     `json:"definition"`
		}
		if err := dec.Decode(&v); err != nil {
			// Not wrapped: its offset counts from the scores, not from the file.
			return fmt.Errorf("score %q: %v", key, err)
		}
		switch _, twice := out.Get(key); {
		case twice:
			return fmt.Errorf("score %q is listed twice", key)
		case v.Value == nil:
			return fmt.Errorf("score %q has no value", key)
		case v.CI95 != nil && (len(v.CI95) != 2 || v.CI95[0] == nil || v.CI95[1] == nil):
			return fmt.Errorf("score %q: ci95 is not two numbers", key)
		}
		m := Score{Key: key, Value: Value{Value: *v.Value, Definition: v.Definition}}
		if v.CI95 != nil {
			m.CI95 = &[2]float64{*v.CI95[0], *v.CI95[1]}
		}
		out = append(out, m)
	}
	*s = out
	return nil
}
