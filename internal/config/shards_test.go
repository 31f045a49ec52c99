package config

import (
	"strings"
	"testing"
)

func TestShardsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"train: {shards: 3}", "train.shards: must be a power of two, is 3"},
		{"train: {shards: 0}", "train.shards"},
		{"train: {shards: 32}", "train.shards: 32 shards do not divide a batch of 112 images"},
		{"train: {shards: 4}\nbatch: {sampler: m-per-class, classes: 3, per_class: 2}", "4 shards do not divide a batch of 6 images"},
		{"train: {batchnorm: shard}", "train.batchnorm: shard takes the statistics of each shard, and there is one"},
		{"train: {accumulate: 0}", "train.accumulate"},
		{"train: {accumulate: 4}\ndefense: {name: free}", "train.accumulate: defense free trains on a batch several times in a row"},
		{"train: {accumulate: 4}", ""},
		{"train: {shards: 16, batchnorm: shard}", ""},
		{"train: {shards: 4}\nbatch: {sampler: m-per-class, classes: 4, per_class: 3}", ""},
	} {
		_, err := LoadBytes([]byte(c.text), "shards.yaml", nil)
		if got := ""; err != nil {
			got = err.Error()
			if c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %s, want %q", c.text, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s: accepted, want %q", c.text, c.want)
		}
	}
}
