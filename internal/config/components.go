package config

import (
	"tercet/internal/component"
	"tercet/internal/engine/loss"
)

// part is one choice of a polymorphic section.
type part = component.Component[any]

// families lists every component once: most register themselves in the package that
// they belong to. The first of a family is its default.
var families = map[string][]part{
	"data": {
		of("glyphs", "characters of fonts, drawn with seeded distortion; needs no files", GlyphsData{Glyphs{
			Classes: 200, PerClass: 20, TestClasses: 100, Difficulty: 0.5}}, nil),
		of("mnist", "MNIST's four IDX files", MNISTData{}, nil),
		of("cifar10", "CIFAR-10, binary version", CIFAR10Data{}, nil),
		of("folder", "one folder a class, PNG or JPEG", FolderData{Train: "train", Test: "test"}, nil),
		of("idx", "IDX files by name", IDXData{}, nil),
		of("npy", "vectors from other tools", NPYData{}, nil),
	},
	"split": {
		of("file", "the train and test sets of the source", FileSplit{}, nil),
		of("class", "train and test classes are disjoint: the score is of unseen classes", ClassSplit{Train: 0.5}, nil),
		of("fraction", "a share of each class's images to train on: the score is of unseen images of the same classes", FractionSplit{Train: 0.8}, nil),
	},
	"noise": {
		of("none", "labels as they are", NoNoise{}, nil),
		of("sln", "each label flips to another class with one probability (symmetric label noise)", SymmetricNoise{Rate: new(0.2)}, nil),
		of("pln", "each label of a pair becomes a fair coin with one probability (pair label noise)", PairNoise{Q: new(0.2)}, nil),
		of("triplet-flip", "positive and negative of a triplet change places with one probability", TripletNoise{Rate: 0.2}, nil),
		of("confusion", "labels change by a matrix of probabilities", ConfusionNoise{}, nil),
		of("pair-flip", "labels become the next class's with one probability", PairFlipNoise{Rate: 0.2}, nil),
	},
	"model": {
		of("cnn", "three convolution blocks and a linear layer (DIBS)", CNNModel{Width: 47, Filters: "paper-count", FC: "k"}, nil),
		of("linear", "one linear map of the pixels", LinearModel{}, embed(64)),
		of("mlp", "three linear layers (DIBS)", MLPModel{Width: 200}, nil),
		of("lenet", "two convolutions, two linear layers, D = 128", LeNetModel{}, embed(128)),
		of("c2f2", "two convolutions, two linear layers, D = 512", C2F2Model{}, embed(512)),
		of("resnet18", "residual network of 18 layers", ResNet18Model{Width: 64, Stem: "imagenet"}, embed(512)),
		of("mahalanobis", "a linear metric on principal components, fitted as section metric says", MahalanobisModel{Dims: 8, Radius: 1}, map[string]any{"normalize": false}),
	},
	"algorithm": {
		of("rrm", "regularised risk minimisation over all triplets", RRMFit{Sigma: 1e-3, Method: "auto", Sums: "auto"}, nil),
		of("sgd", "stochastic gradient descent on random triplets", SGDFit{Constants: "tight"}, nil),
	},
	"sampler": {
		of("class-pairs", "pairs of images of one class, as published", ClassPairs{Pairs: 56}, nil),
		of("class-pairs-distinct", "pairs, no class twice in a batch", ClassPairs{Pairs: 56}, nil),
		of("m-per-class", "some classes, some images of each", MPerClass{Classes: 16, PerClass: 4}, nil),
		of("pair-graph", "a list of pairs, as many similar as different (DIBS)", PairGraph{Scenario: "s2", Pairs: 6000, Negatives: "same-index", Order: "shuffled", Size: 128}, everyTuple),
		of("triplet-list", "a list of random triplets", TripletList{Triplets: 60000, Size: 128}, everyTuple),
	},
	"loss": loss.Family.Plain(),
	"miner": {
		of("semihard", "negatives farther than the positive, within the margin", SemihardMiner{}, nil),
		of("random", "any negative", RandomMiner{}, nil),
		of("softhard", "hard positives and negatives, as published", SofthardMiner{}, nil),
		of("softhard-strict", "softhard whose positive is never the anchor", SofthardMiner{}, nil),
		of("distance-weighted", "negatives evenly over distances", DistanceMiner{}, nil),
		of("hardest", "the closest negative", HardestMiner{}, nil),
		of("batch-all", "every valid triplet", BatchAllMiner{}, nil),
	},
	"defense": {
		of("none", "clean images", NoDefense{}, nil),
		of("est", "images perturbed to move their own embeddings", ESTDefense{"paper", crafting}, nil),
		of("act", "positive and negative perturbed towards each other", ACTDefense{"paper", crafting}, nil),
		of("minmax", "triplets perturbed to be as hard as they can be", MinMaxDefense{"paper", true, crafting}, nil),
		of("hm", "hardness manipulation: triplets perturbed until they are as hard as a destination", HMDefense{Variant: "paper", PGD: crafting}, nil),
	},
	"destination": {
		of("lga", "-gamma l, l the loss of the step before over u (linear gradual adversary)", GradualHardness{}, nil),
		of("lga-squared", "-gamma l^2", GradualHardness{}, nil),
		of("lga-root", "-gamma sqrt(l)", GradualHardness{}, nil),
		of("constant", "one number", ConstantHardness{}, nil),
		of("boost", "a sampler's hardness plus xi (1 - l) (g_B)", BoostedHardness{Sampler: "semihard", Xi: 0.1}, nil),
		of("random", "hardness of random triplets", SamplerHardness{}, nil),
		of("semihard", "hardness of semihard triplets", SamplerHardness{}, nil),
		of("softhard", "hardness of softhard triplets", SamplerHardness{}, nil),
		of("softhard-strict", "hardness of softhard-strict triplets", SamplerHardness{}, nil),
		of("distance-weighted", "hardness of distance-weighted triplets", SamplerHardness{}, nil),
		of("hardest", "hardness of the hardest triplets", SamplerHardness{}, nil),
	},
	"optimizer": {
		of("adam", "Adam", Adam{Betas: [2]float64{0.9, 0.999}, Eps: 1e-8}, nil),
		of("adamw", "Adam with decoupled decay", Adam{Betas: [2]float64{0.9, 0.999}, Eps: 1e-8}, map[string]any{"weight_decay": 0.01, "decay": "decoupled"}),
		of("sgd", "stochastic gradient descent", SGD{Momentum: 0.9}, map[string]any{"lr": 0.01}),
	},
	"schedule": {
		of("constant", "the same rate throughout", ConstantSchedule{}, nil),
		of("step", "drops at regular distances", StepSchedule{Every: component.Span{N: 30, Unit: "epochs"}, Gamma: 0.1}, nil),
		of("cosine", "half a cosine down to the end", CosineSchedule{}, nil),
	},
}

func of(name, doc string, defaults any, preset map[string]any) part {
	return part{Name: name, Doc: doc, Defaults: defaults, Preset: preset}
}

// crafting is the papers' cheaper budget, eta = 8.
var crafting = Crafting{Norm: "linf", Steps: 8, Scale: "fixed", Start: "clean", BatchNorm: "running"}

// everyTuple keeps an epoch's last batch: a list is meant to be seen whole.
var everyTuple = map[string]any{"drop_last": false}

func embed(d int) map[string]any { return map[string]any{"embedding": d} }

// common returns the defaults of the keys that are no component's.
func common() *Config {
	return &Config{
		Name: "run",
		Data: Data{Fit: "stretch", Color: "native"},
		Model: Model{
			Normalize: true,
			Init:      "pytorch",
		},
		Metric: Metric{Loss: "logistic", HuberDelta: 1, Positive: each},
		Batch:  Batch{DropLast: true, Prefetch: 2},
		Optimizer: Optimizer{
			LR:       1e-3,
			Decay:    "l2",
			Schedule: Schedule{Warmup: component.Span{Unit: "steps"}},
		},
		Train: Train{
			Epochs:          10,
			BatchNorm:       "train",
			LogEvery:        20,
			EvalEvery:       1,
			EvalSamples:     2000,
			CheckpointEvery: component.Span{N: 5, Unit: "minutes"},
			EarlyStop:       EarlyStop{Patience: 5, On: "validation"},
			Collapse:        Collapse{Enabled: true, Window: 100, Cosine: 0.99, Rank: 1.5},
		},
		Eval: Eval{
			Ks:        []int{1, 2, 4, 8},
			KMeans:    KMeans{NInit: 10},
			Bootstrap: 1000,
			Baselines: true,
			Batch:     256,
			Pairs:     9000,
		},
	}
}
