package config

import "tercet/internal/device"

// shardRules holds what shards ask of the rest.
func (c *Config) shardRules(fail func(key, format string, args ...any)) {
	t := c.Train
	if s := t.Shards; s&(s-1) != 0 {
		fail("train.shards", "must be a power of two, is %d", s)
	} else if rows := c.Batch.Views * c.Batch.Options.Rows(); s > 0 && rows%s != 0 {
		fail("train.shards", "%d shards do not divide a batch of %d images: change train.shards or the size of the batch", s, rows)
	}
	if _, _, err := device.Parse(t.Device); err != nil {
		fail("train.device", "%v", err)
	} else if t.onDevice() && t.Shards > 1 {
		fail("train.shards", "device %s trains whole batches: set train.shards to 1, or train.device to cpu", t.Device)
	}
	if t.BatchNorm == "shard" && t.Shards == 1 {
		fail("train.batchnorm", "shard takes the statistics of each shard, and there is one: set train.shards, or train.batchnorm: train")
	}
}

// onDevice says that another device than the processor computes the network.
func (t Train) onDevice() bool {
	driver, _, err := device.Parse(t.Device)
	return err == nil && driver != device.CPU
}
