package metric

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// Value is one measured number, as result documents hold it.
type Value struct {
	Value      float64     `json:"value"`
	CI95       *[2]float64 `json:"ci95,omitempty"` // 95 % interval
	Definition string      `json:"definition"`
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
