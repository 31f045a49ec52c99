package config

import (
	"tercet/internal/component"
	"tercet/internal/data"
	"tercet/internal/data/batch"
	"tercet/internal/engine/adversary"
	"tercet/internal/engine/loss"
	"tercet/internal/engine/mine"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/optim"
	"tercet/internal/noise"
)

// Data says where the images come from: a component of data.Family.
type Data struct {
	Name          string      `yaml:"name" choice:"data" doc:"where the images come from"`
	Size          int         `yaml:"size" check:">=0,<=4096" doc:"images are resized to SIZE x SIZE pixels before the crop; 0 keeps them"`
	Fit           string      `yaml:"fit" enum:"stretch|short" doc:"what size means: stretch makes both sides that long, short the shorter one and keeps the aspect (then crop)"`
	Crop          int         `yaml:"crop" check:">=0,<=4096" doc:"side of the center crop in pixels; 0 crops nothing"`
	Color         string      `yaml:"color" enum:"native|grey|rgb" doc:"channels; native keeps those of the source"`
	Split         Split       `yaml:"split" doc:"the split into training and test set"`
	LimitPerClass int         `yaml:"limit_per_class" check:">=0,<=1000000000" doc:"maximum number of training images per class; 0: all"`
	SkipPerClass  int         `yaml:"skip_per_class" check:">=0,<=1000000000" doc:"skip this many training images of each class, the first ones in limit_per_class order: with the same split.seed, a limit of K and a skip of K share no image; 0 skips none"`
	Classes       int         `yaml:"classes" check:">=0,<=1000000000" doc:"train and test on this many classes, drawn by the run's seed and the same in both sets; 0: all"`
	Transform     Transform   `yaml:"transform" doc:"steps between the file and the network, as torchvision names them; images are then decoded each time they are needed"`
	SkipBroken    bool        `yaml:"skip_broken" omit:"false" doc:"decode every image file first and leave out those that cannot be decoded; the manifest lists them. Otherwise such a file is an error"`
	Augment       Augment     `yaml:"augment" doc:"random changes of training images"`
	Distort       Distort     `yaml:"distort" doc:"random affine and elastic maps of training images"`
	Options       data.Source `yaml:"-"`
}

// Split says which images are test images, and which of the others decide during
// training: a component of data.Splits.
type Split struct {
	Kind       string            `yaml:"kind" choice:"split" doc:"how the data are split into train and test"`
	Validation float64           `yaml:"validation" check:">=0,<=0.9" doc:"fraction of the training data held out to choose the best checkpoint and to stop early: whole classes if training and test classes are disjoint, otherwise images of each class; 0: none"`
	Seed       uint64            `yaml:"seed" doc:"seed of the choice of images for test, validation, limit_per_class and skip_per_class, independent of the run's seed"`
	Options    data.SplitOptions `yaml:"-"`
}

// Transform lists steps of transform.Family. It takes the place of the other keys that
// change images.
type Transform struct {
	Train  []string `yaml:"train" steps:"any" omit:"[]" doc:"list of steps for training images; empty: the steps of test"`
	Test   []string `yaml:"test" steps:"fixed" omit:"[]" doc:"list of steps for all other images"`
	Packed string   `yaml:"packed" omit:"\"\"" doc:"file written by tercet data pack, read instead of the images; it contains resized images"`
}

// Given says that there are steps.
func (t Transform) Given() bool { return len(t.Train)+len(t.Test) > 0 }

// Augment changes training images at random.
type Augment struct {
	CropPadding int  `yaml:"crop_padding" check:">=0,<=256" doc:"pad by this many pixels, then crop at a random position; 0: off"`
	Flip        bool `yaml:"flip" doc:"mirror left and right with probability 1/2"`
}

// Distort maps training images as handwriting varies: a random affine map and a
// random elastic one.
type Distort struct {
	Strength float64 `yaml:"strength" check:">=0,<=1" doc:"size of the pixel shifts; 0 is off"`
	Fresh    bool    `yaml:"fresh" doc:"draw another map each time an image is shown; without it each image has one fixed map"`
	Seed     uint64  `yaml:"seed" doc:"seed of the maps, independent of the run's seed"`
}

// Noise changes what is trained on: labels, pairs or triplets; held-out and test
// images keep their labels. It is a component of noise.Family.
type Noise struct {
	Kind    string     `yaml:"kind" choice:"noise" doc:"what is perturbed, and how"`
	Options noise.Keys `yaml:"-"`
}

// Model is the embedder, a component of nn.Family.
type Model struct {
	Name      string  `yaml:"name" choice:"model" doc:"the network"`
	Embedding int     `yaml:"embedding" check:">=0,<=65536" doc:"dimension D of the embedding; 0: the default of the model"`
	Normalize bool    `yaml:"normalize" doc:"divide embeddings by their Euclidean length"`
	Init      string  `yaml:"init" enum:"pytorch|xavier-uniform|xavier-normal|he-uniform|he-normal" doc:"how weights are drawn"`
	Weights   string  `yaml:"weights" omit:"\"\"" doc:"file of initial weights: safetensors, .pth, or a checkpoint of a run; the last linear layer is initialized at random if its shape differs; empty: initialize all layers at random"`
	Options   nn.Keys `yaml:"-"`
}

// Batch says which images come next: a component of batch.Samplers.
type Batch struct {
	Sampler  string            `yaml:"sampler" choice:"sampler" doc:"how a batch is composed"`
	Views    int               `yaml:"views" check:">=1,<=2" omit:"1" doc:"number of views of each image in a batch, each with its own random augmentation; 2 for losses on views"`
	DropLast bool              `yaml:"drop_last" doc:"leave out an epoch's last batch if it is not full"`
	Prefetch int               `yaml:"prefetch" check:">=0,<=64" doc:"number of batches to prepare ahead of time on spare threads; 0: none"`
	Options  batch.SamplerKeys `yaml:"-"`
}

// Loss is the objective, a component of loss.Family.
type Loss struct {
	Name    string       `yaml:"name" choice:"loss" doc:"the objective"`
	Memory  Memory       `yaml:"memory" doc:"number of embeddings of earlier batches that a batch is also compared with"`
	Options loss.Options `yaml:"-"`
}

// Memory keeps embeddings of earlier batches.
type Memory struct {
	Size   int            `yaml:"size" check:">=0,<=65536" omit:"0" doc:"with losses on pairs and on triplets: the last SIZE embeddings are compared with those of a batch, without a gradient of their own; 0 is off"`
	Warmup component.Span `yaml:"warmup" units:"steps,epochs" check:">=0" omit:"0 steps" doc:"length of the start of training without memory; 1000 steps in the paper"`
}

// Miner picks tuples, a component of mine.Family.
type Miner struct {
	Name    string    `yaml:"name" choice:"miner" doc:"how the tuples of a batch are mined"`
	Options mine.Keys `yaml:"-"`
}

// Defense replaces images by crafted ones or adds to the loss: a component of
// adversary.Family.
type Defense struct {
	Name    string         `yaml:"name" choice:"defense" doc:"how the embedder is hardened while it learns"`
	Options adversary.Keys `yaml:"-"`
}

// Optimizer moves the weights, a component of optim.Family.
type Optimizer struct {
	Name        string     `yaml:"name" choice:"optimizer" doc:"the update rule"`
	LR          float64    `yaml:"lr" check:">0" doc:"learning rate at its highest"`
	WeightDecay float64    `yaml:"weight_decay" check:">=0" doc:"strength of weight decay"`
	Decay       string     `yaml:"decay" enum:"l2|decoupled" doc:"l2 adds the decay to the gradient, decoupled to the step"`
	Clip        float64    `yaml:"clip" check:">=0" doc:"largest Euclidean norm of the whole gradient; 0 is off"`
	ClipValue   float64    `yaml:"clip_value" check:">=0" omit:"0" doc:"largest absolute value of each number of the gradient; 0 is off"`
	DecayAll    bool       `yaml:"decay_all" omit:"false" doc:"weight decay also of biases and normalizations, as torch.optim does"`
	Head        Group      `yaml:"head" doc:"learning rate and weight decay of the network's last linear layer"`
	Schedule    Schedule   `yaml:"schedule" doc:"the learning rate over time"`
	Options     optim.Keys `yaml:"-"`
}

// Group is what parameters have of their own. Auto takes what all others have.
type Group struct {
	LR          component.Auto `yaml:"lr" check:">0" omit:"auto" doc:"maximum learning rate; auto: optimizer.lr"`
	WeightDecay component.Auto `yaml:"weight_decay" check:">=0" omit:"auto" doc:"weight decay; auto takes optimizer.weight_decay"`
}

// Schedule scales the learning rate, a component of optim.Schedules.
type Schedule struct {
	Name    string             `yaml:"name" choice:"schedule" doc:"the curve after the warm-up"`
	Warmup  component.Span     `yaml:"warmup" units:"steps,epochs" check:">=0" doc:"linear rise of the learning rate from 0 at the start"`
	Before  []string           `yaml:"extended" omit:"[]" doc:"lengths that the run had before tercet runs extend made it longer, in its unit, each with what the learning rate does then: keep, restart or stretch, such as 10 restart"`
	Options optim.ScheduleKeys `yaml:"-"`
}

// Train says how long a run is and what it writes on the way. Exactly one of
// Epochs and Steps is not 0.
type Train struct {
	Epochs          int            `yaml:"epochs" check:">=0,<=1000000" oneof:"length" doc:"length in epochs of the sampler; 0: use steps"`
	Steps           int            `yaml:"steps" check:">=0,<=1000000000" oneof:"length" doc:"length in optimizer steps; 0: use epochs"`
	BatchNorm       string         `yaml:"batchnorm" enum:"train|shard|frozen|frozen-affine" doc:"train uses the batch's statistics, shard those of each of train.shards, frozen the stored ones; frozen-affine also freezes weight and bias of batch norm"`
	Shards          int            `yaml:"shards" check:">=1,<=1024" omit:"1" doc:"number of parts of a batch whose gradients are computed separately and added in a fixed order; affects the last bits of results and limits the number of ranks"`
	Accumulate      int            `yaml:"accumulate" check:">=1,<=100000" omit:"1" doc:"gradient accumulation: number of batches whose mean gradient makes one optimizer step; steps and schedules count optimizer steps"`
	HeadOnly        component.Span `yaml:"head_only" units:"steps,epochs" check:">=0" omit:"0 steps" doc:"train only the network's last linear layer for this long at the start"`
	Device          string         `yaml:"device" omit:"cpu" doc:"device of the network: cpu, opencl or cuda, and opencl:1, cuda:1 and so on for further devices; all but cpu need tercet-native; affects the last bits of results"`
	LogEvery        int            `yaml:"log_every" check:">=1,<=1000000000" doc:"optimizer steps between two events"`
	EvalEvery       int            `yaml:"eval_every" check:">=0,<=1000000000" doc:"epochs between two evaluations; 0 evaluates at the end only"`
	EvalSamples     int            `yaml:"eval_samples" check:">=0,<=1000000000" doc:"number of validation images (test images if there are none) for evaluations during training; 0: all"`
	CheckpointEvery component.Span `yaml:"checkpoint_every" units:"steps,minutes" check:">=0" doc:"maximum interval between checkpoints; with minutes there is also one at the end of an epoch, unless the last is less than 5 seconds old; 0: one at the end of each epoch"`
	KeepEvery       component.Span `yaml:"keep_every" units:"steps,epochs" check:">=0" omit:"0 steps" doc:"interval of checkpoints to keep, as checkpoints/step-N.safetensors; 0 keeps only last, previous and best"`
	EMA             float64        `yaml:"ema" check:">=0,<=0.99999" omit:"0" doc:"decay of a moving average of the weights, such as 0.999: the network that is evaluated, embedded and attacked is then the average; 0 keeps none"`
	EarlyStop       EarlyStop      `yaml:"early_stop" doc:"stop when a metric no longer rises"`
	Collapse        Collapse       `yaml:"collapse" doc:"stop when the embedding has collapsed to a point or a line"`
}

// EarlyStop ends a run whose metric no longer rises.
type EarlyStop struct {
	Metric   string  `yaml:"metric" doc:"key of an evaluation, such as retrieval.recall@1, or pair_accuracy of held-out pairs or pair_train_accuracy where pairs are trained on; empty is off"`
	Patience int     `yaml:"patience" check:">=1,<=1000000" doc:"evaluations without a rise before the run stops"`
	MinDelta float64 `yaml:"min_delta" check:">=0" doc:"smallest difference that counts as a rise"`
	On       string  `yaml:"on" enum:"validation|test" doc:"images for early stopping: validation images, held out by data.split.validation, or test images, whose scores are then biased upwards"`
}

// Idle says that patience or min_delta are set where no metric stops the run.
func (e EarlyStop) Idle() bool {
	plain := common().Train.EarlyStop
	return e.Metric == "" && (e.Patience != plain.Patience || e.MinDelta != plain.MinDelta)
}

// Collapse sets the limits of the collapse monitor. A run has collapsed when
// over a whole window the mean cosine is above and the effective rank below its
// limit; it has stopped learning when fewer than the given fraction of tuples is
// active.
type Collapse struct {
	Enabled bool    `yaml:"enabled" doc:"whether a collapse stops the run"`
	Window  int     `yaml:"window" check:">=1,<=1000000" doc:"number of consecutive steps beyond a limit that count as a collapse"`
	Cosine  float64 `yaml:"cosine" check:">0,<=1" doc:"mean cosine of two embeddings of a batch above which it counts as collapsed"`
	Rank    float64 `yaml:"rank" check:">=0" doc:"effective rank of a batch's Gram matrix below which it counts as collapsed"`
	Active  float64 `yaml:"active" check:">=0,<=1" doc:"fraction of active tuples below which learning counts as stopped; 0 is off"`
}

// Eval says what is measured on the test images.
type Eval struct {
	Ks        []int  `yaml:"ks" check:">=1,<=1000000" doc:"the k of recall@k, rising"`
	KMeans    KMeans `yaml:"kmeans" doc:"the clustering that is scored"`
	Bootstrap int    `yaml:"bootstrap" check:">=0,<=1000000" doc:"bootstrap resamples of the queries for the 95 % intervals; 0: no intervals"`
	Baselines bool   `yaml:"baselines" doc:"also score raw pixels and the untrained network"`
	Batch     int    `yaml:"batch" check:">=1,<=1000000" doc:"images embedded at a time"`
	// Pairs and NoisyPairs are for runs on a pair graph.
	Pairs      int  `yaml:"pairs" check:">=0,<=10000000" doc:"number of held-out pairs, half of them similar, to evaluate a run on a pair graph; 0: none"`
	NoisyPairs bool `yaml:"noisy_pairs" doc:"also inject the noise of the training pairs into these pairs"`
}

// KMeans configures k-means.
type KMeans struct {
	K     int `yaml:"k" check:">=0,<=1000000" doc:"number of clusters; 0: the number of classes"`
	NInit int `yaml:"n_init" check:">=1,<=100000" doc:"number of starts; the best is kept"`
}
