// Package run manages run directories (manifest, lock, checkpoints, log) and trains the runs
// in them, single ones and sweeps.
//
// Create makes a directory for a config, Open reads one, and Run.Train trains or resumes
// it; a killed run loses only the steps since its last checkpoint. CheckConfig and Precheck
// report the errors that training would report, before a directory is made. MakePlan
// estimates the cost of training. Checkpoint, Loaded and Embed give weights and embeddings
// to the packages that measure a run: evaluate, robustness, clustering and generalize. Keep
// decides whether their results may replace older ones.
//
// Package wire turns a config into data and components; package train has the loop itself.
package run
