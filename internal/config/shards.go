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
	if driver, _, err := device.Parse(t.Device); err != nil {
		fail("train.device", "%v", err)
	} else if driver != device.CPU {
		c.deviceRules(t.Device, fail)
	}
	if t.BatchNorm == "shard" && t.Shards == 1 {
		fail("train.batchnorm", "shard takes the statistics of each shard, and there is one: set train.shards, or train.batchnorm: train")
	}
}

// deviceRules holds what a device asks of the rest.
func (c *Config) deviceRules(name string, fail func(key, format string, args ...any)) {
	if c.Train.Shards > 1 {
		fail("train.shards", "device %s trains whole batches: set train.shards to 1, or train.device to cpu", name)
	}
	if c.Defense.Name == "ibp" {
		fail("defense.name", "the bounds of ibp are computed on the processor: set train.device to cpu")
	}
}
