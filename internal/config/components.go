package config

// component is one choice of a polymorphic section: its name, its own keys with
// their defaults, and what it presets among the section's common keys.
type component struct {
	name    string
	doc     string
	options any               // struct value holding the defaults
	preset  func(section any) // section is a pointer; nil changes nothing
}

// families lists every component once. A new one needs its options struct, its
// line here and its wiring in package experiment. The first of a family is its
// default.
var families = map[string][]component{
	"data": {
		{"glyphs", "characters of fonts, drawn with seeded distortion; needs no files", GlyphsData{Glyphs{
			Classes: 200, PerClass: 20, TestClasses: 100, Difficulty: 0.5}}, nil},
		{"mnist", "MNIST's four IDX files", MNISTData{}, nil},
		{"cifar10", "CIFAR-10, binary version", CIFAR10Data{}, nil},
		{"folder", "one folder a class, PNG or JPEG", FolderData{Train: "train", Test: "test"}, nil},
		{"idx", "IDX files by name", IDXData{}, nil},
		{"npy", "vectors from other tools", NPYData{}, nil},
	},
	"split": {
		{"file", "the train and test sets of the source", FileSplit{}, nil},
		{"class", "train and test classes are disjoint: the score is of unseen classes", ClassSplit{Train: 0.5}, nil},
		{"fraction", "a share of each class's images to train on: the score is of unseen images of the same classes", FractionSplit{Train: 0.8}, nil},
	},
	"noise": {
		{"none", "labels as they are", NoNoise{}, nil},
		{"sln", "each label flips to another class with one probability (symmetric label noise)", SymmetricNoise{Rate: new(0.2)}, nil},
		{"pln", "each label of a pair becomes a fair coin with one probability (pair label noise)", PairNoise{Q: new(0.2)}, nil},
		{"triplet-flip", "positive and negative of a triplet change places with one probability", TripletNoise{Rate: 0.2}, nil},
		{"confusion", "labels change by a matrix of probabilities", ConfusionNoise{}, nil},
		{"pair-flip", "labels become the next class's with one probability", PairFlipNoise{Rate: 0.2}, nil},
	},
	"model": {
		{"cnn", "three convolution blocks and a linear layer (DIBS)", CNNModel{Width: 47, Filters: "paper-count", FC: "k"}, nil},
		{"linear", "one linear map of the pixels", LinearModel{}, embed(64)},
		{"mlp", "three linear layers (DIBS)", MLPModel{Width: 200}, nil},
		{"lenet", "two convolutions, two linear layers, D = 128", LeNetModel{}, embed(128)},
		{"c2f2", "two convolutions, two linear layers, D = 512", C2F2Model{}, embed(512)},
		{"resnet18", "residual network of 18 layers", ResNet18Model{Width: 64, Stem: "imagenet"}, embed(512)},
		{"mahalanobis", "a linear metric on principal components, fitted as section metric says", MahalanobisModel{Dims: 8, Radius: 1}, func(s any) {
			s.(*Model).Normalize = false
		}},
	},
	"algorithm": {
		{"rrm", "regularised risk minimisation over all triplets", RRMFit{Sigma: 1e-3, Method: "auto", Sums: "auto"}, nil},
		{"sgd", "stochastic gradient descent on random triplets", SGDFit{Constants: "tight"}, nil},
	},
	"sampler": {
		{"class-pairs", "pairs of images of one class, as published", ClassPairs{Pairs: 56}, nil},
		{"class-pairs-distinct", "pairs, no class twice in a batch", ClassPairs{Pairs: 56}, nil},
		{"m-per-class", "some classes, some images of each", MPerClass{Classes: 16, PerClass: 4}, nil},
		{"pair-graph", "a list of pairs, as many similar as different (DIBS)", PairGraph{Scenario: "s2", Pairs: 6000, Negatives: "same-index", Order: "shuffled", Size: 128}, everyTuple},
		{"triplet-list", "a list of random triplets", TripletList{Triplets: 60000, Size: 128}, everyTuple},
	},
	"loss": {
		{"triplet", "triplet loss", TripletLoss{Margin: 0.2, Distance: "euclidean", Form: "hinge", Reducer: "mean", Eps: 1e-6}, nil},
		{"triplet-capped", "triplet loss on squared distances with a cap on the positive's (L2 of Ho et al.)", CappedLoss{Alpha: 1, Beta: 0.5, Reducer: "mean"}, nil},
		{"triplet-threshold", "positives within beta, negatives beyond alpha, in squared distance (L3 of Ho et al.)", ThresholdLoss{Alpha: 1, Beta: 0.5, Reducer: "mean", Pairing: "triplets"}, nil},
		{"contrastive", "pairs: similar ones together, different ones a margin apart (DIBS)", ContrastiveLoss{Margin: 1, Reducer: "mean", Eps: 1e-6}, nil},
		{"cosine", "pairs: cosine embedding loss (DIBS)", CosineLoss{Margin: 0.5, Similarity: "cosine", Reducer: "mean", Eps: 1e-12}, nil},
		{"triplet-robust", "triplet loss for triplets that are wrong with known probability", RobustLoss{Margin: 0.2, Distance: "squared", Form: "expected", Weights: "joint", Temperature: 0.2, Reducer: "mean", Eps: 1e-6}, nil},
	},
	"miner": {
		{"semihard", "negatives farther than the positive, within the margin", SemihardMiner{}, nil},
		{"random", "any negative", RandomMiner{}, nil},
		{"softhard", "hard positives and negatives, as published", SofthardMiner{}, nil},
		{"softhard-strict", "softhard whose positive is never the anchor", SofthardMiner{}, nil},
		{"distance-weighted", "negatives evenly over distances", DistanceMiner{}, nil},
		{"hardest", "the closest negative", HardestMiner{}, nil},
		{"batch-all", "every valid triplet", BatchAllMiner{}, nil},
	},
	"defense": {
		{"none", "clean images", NoDefense{}, nil},
		{"est", "images perturbed to move their own embeddings", ESTDefense{"paper", crafting}, nil},
		{"act", "positive and negative perturbed towards each other", ACTDefense{"paper", crafting}, nil},
		{"minmax", "triplets perturbed to be as hard as they can be", MinMaxDefense{"paper", true, crafting}, nil},
		{"hm", "hardness manipulation: triplets perturbed until they are as hard as a destination", HMDefense{Variant: "paper", PGD: crafting}, nil},
	},
	"destination": {
		{"lga", "-gamma l, l the loss of the step before over u (linear gradual adversary)", GradualHardness{}, nil},
		{"lga-squared", "-gamma l^2", GradualHardness{}, nil},
		{"lga-root", "-gamma sqrt(l)", GradualHardness{}, nil},
		{"constant", "one number", ConstantHardness{}, nil},
		{"boost", "a sampler's hardness plus xi (1 - l) (g_B)", BoostedHardness{Sampler: "semihard", Xi: 0.1}, nil},
		{"random", "hardness of random triplets", SamplerHardness{}, nil},
		{"semihard", "hardness of semihard triplets", SamplerHardness{}, nil},
		{"softhard", "hardness of softhard triplets", SamplerHardness{}, nil},
		{"softhard-strict", "hardness of softhard-strict triplets", SamplerHardness{}, nil},
		{"distance-weighted", "hardness of distance-weighted triplets", SamplerHardness{}, nil},
		{"hardest", "hardness of the hardest triplets", SamplerHardness{}, nil},
	},
	"optimizer": {
		{"adam", "Adam", Adam{Betas: [2]float64{0.9, 0.999}, Eps: 1e-8}, nil},
		{"adamw", "Adam with decoupled decay", Adam{Betas: [2]float64{0.9, 0.999}, Eps: 1e-8}, func(s any) {
			s.(*Optimizer).WeightDecay = 0.01
			s.(*Optimizer).Decay = "decoupled"
		}},
		{"sgd", "stochastic gradient descent", SGD{Momentum: 0.9}, func(s any) { s.(*Optimizer).LR = 0.01 }},
	},
	"schedule": {
		{"constant", "the same rate throughout", ConstantSchedule{}, nil},
		{"step", "drops at regular distances", StepSchedule{Every: Span{30, "epochs"}, Gamma: 0.1}, nil},
		{"cosine", "half a cosine down to the end", CosineSchedule{}, nil},
	},
}

// crafting is the papers' cheaper budget, eta = 8.
var crafting = Crafting{Norm: "linf", Steps: 8, Scale: "fixed", Start: "clean", BatchNorm: "running"}

// everyTuple keeps an epoch's last batch: a list is meant to be seen whole.
func everyTuple(s any) { s.(*Batch).DropLast = false }

func embed(d int) func(any) { return func(s any) { s.(*Model).Embedding = d } }

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
			Schedule: Schedule{Warmup: Span{0, "steps"}},
		},
		Train: Train{
			Epochs:          10,
			BatchNorm:       "train",
			LogEvery:        20,
			EvalEvery:       1,
			EvalSamples:     2000,
			CheckpointEvery: Span{5, "minutes"},
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
