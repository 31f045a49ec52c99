//go:build linux

package kills

// A job is a command with the config of its run. Commands other than train begin
// from a finished run of the config.
type job struct {
	name   string
	config string
	args   string // after the program's name; of train, --config or --resume is added
}

func (j job) trains() bool { return j.args == "train" }

const scores = `
eval: {bootstrap: 100, kmeans: {n_init: 2}}
`

const images = scores + `
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}}
`

// Checkpoints fall between logged steps and in the middle of epochs, so that each
// part of the state would show if a resumed run went another way.
const trains = images + length

const length = `
train: {epochs: 10, log_every: 5, checkpoint_every: 7 steps, eval_every: 2}
`

var jobs = []job{
	{"train cnn", scores + length + `
name: run
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs-distinct, pairs: 6}
miner: softhard
data: {name: glyphs, size: 16, glyphs: {classes: 12, per_class: 6, test_classes: 6}, split: {validation: 0.25}, augment: {crop_padding: 2, flip: true}}
`, "train"},
	{"train mlp with noise", trains + `
name: run
model: {name: mlp, width: 16, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
miner: distance-weighted
noise: {kind: sln, rate: 0.2}
`, "train"},
	{"train pairs", trains + `
name: run
model: {name: mlp, width: 16, embedding: 8, normalize: false}
batch: {sampler: pair-graph, scenario: s1, pairs: 120, redraw: true, size: 16}
loss: {name: contrastive, margin: 1}
noise: {kind: pln, effective: 0.1}
`, "train"},
	{"train triplet list", trains + `
name: run
model: {name: mlp, width: 16, embedding: 8}
batch: {sampler: triplet-list, triplets: 120, size: 16}
loss: {name: triplet, margin: 0.2}
`, "train"},
	{"train proxy-anchor", trains + `
name: run
model: {name: mlp, width: 16, embedding: 8}
batch: {sampler: m-per-class, classes: 4, per_class: 3}
loss: proxy-anchor
`, "train"},
	{"train with a memory", trains + `
name: run
model: {name: mlp, width: 16, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
loss: {name: contrastive, memory: {size: 40, warmup: 5}}
`, "train"},
	{"train hm", trains + `
name: run
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
miner: softhard
defense: {name: hm, source: softhard, destination: {name: lga, u: 0.2}, pgd: {steps: 2}, ics: {lambda: 0.5}}
`, "train"},
	{"train minmax", trains + `
name: run
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
miner: semihard
defense: {name: minmax, pgd: {steps: 2, start: random}}
`, "train"},
	{"train mahalanobis", images + `
name: run
model: {name: mahalanobis, dims: 5}
metric: {sigma: 0.01}
`, "train"},
	{"train mahalanobis by sgd", images + `
name: run
model: {name: mahalanobis, dims: 5}
metric: {algorithm: sgd, steps: 20000}
`, "train"},
	{"train sweep", images + `
name: run
model: {name: mlp, width: 8, embedding: 4}
batch: {sampler: class-pairs, pairs: 8}
miner: softhard
train: {epochs: 6, checkpoint_every: 3 steps, eval_every: 0}
sweep: {seed: [0, 1, 2]}
`, "train"},
	{"cluster", finished, "cluster --run runs/run"},
	{"cluster multicut", finished, "cluster --method multicut --run runs/run"},
	{"attack ers", finished, "attack --suite ers --queries 8 --pgd-steps 4 --bootstrap 100 --run runs/run"},
	{"eval", finished, "eval --run runs/run"},
	{"embed", finished, "embed --run runs/run --batch 3 --out vectors"},
	{"gap", finished, "gap --triplets 2000 --run runs/run"},
	{"stability", finished, "stability --replacements 3 --run runs/run"},
	{"influence", finished, "influence --replacements 3 --steps 8 --run runs/run"},
}

const finished = images + `
name: run
model: {name: cnn, width: 4, embedding: 8}
batch: {sampler: class-pairs, pairs: 8}
loss: {name: triplet-threshold}
train: {epochs: 4, log_every: 3, checkpoint_every: 4 steps, eval_every: 2}
`
