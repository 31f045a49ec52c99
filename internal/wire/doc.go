// Package wire makes the data sets and the components of a run from a config: sets, noise,
// pairs and triplets, sampler, model, loss, miner, defense, optimizer, and the trainer of
// them. It knows all components and no run directory.
package wire
