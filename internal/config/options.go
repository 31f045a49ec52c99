package config

import "tercet/internal/component"

// GlyphsData is the built-in dataset: characters of fonts, each a class, drawn
// with seeded distortion. Its own split is class-disjoint.
type GlyphsData struct {
	Glyphs Glyphs `yaml:"glyphs" doc:"how characters are chosen and drawn"`
}

// Glyphs chooses and draws characters. A knob that is not set follows the
// difficulty.
type Glyphs struct {
	Classes     int      `yaml:"classes" check:">=2,<=1000000" doc:"characters to train on"`
	PerClass    int      `yaml:"per_class" check:">=2,<=1000000" doc:"images of each character"`
	TestClasses int      `yaml:"test_classes" check:">=2,<=1000000" doc:"characters to test on, none of them trained on"`
	Difficulty  float64  `yaml:"difficulty" check:">=0,<=1" doc:"0 draws plain characters, 1 hardly legible ones"`
	Seed        uint64   `yaml:"seed" doc:"seed of the drawing, apart from the run's"`
	Affine      *float64 `yaml:"affine" check:">=0,<=1" doc:"rotation, shear, scale and shift; null follows difficulty"`
	Elastic     *float64 `yaml:"elastic" check:">=0,<=1" doc:"elastic distortion; null follows difficulty"`
	Stroke      *float64 `yaml:"stroke" check:">=0,<=1" doc:"change of stroke weight; null follows difficulty"`
	Blur        *float64 `yaml:"blur" check:">=0,<=1" doc:"blur; null follows difficulty"`
	Clutter     *float64 `yaml:"clutter" check:">=0,<=1" doc:"foreign strokes; null follows difficulty"`
	Noise       *float64 `yaml:"noise" check:">=0,<=1" doc:"pixel noise; null follows difficulty"`
}

// MNISTData is a folder with the four IDX files of MNIST, plain or gzip.
type MNISTData struct {
	Root string `yaml:"root" doc:"folder with train-images-idx3-ubyte and its three companions, plain or .gz"`
}

// CIFAR10Data is a folder with the binary version of CIFAR-10.
type CIFAR10Data struct {
	Root string `yaml:"root" doc:"folder with data_batch_*.bin and test_batch.bin"`
}

// FolderData is one folder a class, images inside.
type FolderData struct {
	Root  string `yaml:"root" doc:"folder of class folders, or of the two below"`
	Train string `yaml:"train" doc:"with split file: the folder of training classes, under root"`
	Test  string `yaml:"test" doc:"with split file: the folder of test classes, under root"`
}

// IDXData is IDX files by name.
type IDXData struct {
	Root  string     `yaml:"root" doc:"folder that the files are in"`
	Train ImageFiles `yaml:"train" doc:"training files"`
	Test  ImageFiles `yaml:"test" doc:"test files, for split file"`
}

// ImageFiles are images and their labels.
type ImageFiles struct {
	Images string `yaml:"images" doc:"IDX file of images, plain or .gz"`
	Labels string `yaml:"labels" doc:"IDX file of labels, plain or .gz"`
}

// NPYData is vectors made by other tools.
type NPYData struct {
	Root  string      `yaml:"root" doc:"folder that the files are in"`
	Train VectorFiles `yaml:"train" doc:"training files"`
	Test  VectorFiles `yaml:"test" doc:"test files, for split file"`
}

// VectorFiles are vectors (N, d) and their labels (N).
type VectorFiles struct {
	Vectors string `yaml:"vectors" doc:"npy file of vectors (N, d)"`
	Labels  string `yaml:"labels" doc:"npy or csv file of N labels"`
}

// FileSplit keeps the split that the source comes with.
type FileSplit struct{}

// ClassSplit trains on some classes and tests on the others.
type ClassSplit struct {
	Train float64 `yaml:"train" check:">0" doc:"classes to train on: a count, or a fraction below 1"`
}

// FractionSplit trains on some images of each class and tests on the others.
type FractionSplit struct {
	Train float64 `yaml:"train" check:">0,<1" doc:"fraction of each class's images to train on"`
}

// LinearModel is one linear map of the pixels.
type LinearModel struct{}

// MLPModel is three weight layers d, width, width, D (DIBS). An embedding of 0
// is the width.
type MLPModel struct {
	Width int `yaml:"width" check:">=1,<=65536" doc:"units of a hidden layer"`
}

// CNNModel is the convolutional network of DIBS with its two filter layouts.
type CNNModel struct {
	Width   int    `yaml:"width" check:">=1,<=8192" doc:"k, filters of the first convolution"`
	Filters string `yaml:"filters" enum:"paper-count|paper-text" doc:"filters of the three blocks: k,2k,4k fits the paper's parameter count, k,2k,2k its text"`
	FC      string `yaml:"fc" enum:"k|2k" doc:"units of the last layer where embedding is 0"`
}

// LeNetModel is LeNet as Zhou and Patel use it.
type LeNetModel struct{}

// C2F2Model is two convolutions and two linear layers (Zhou and Patel).
type C2F2Model struct{}

// ResNet18Model is a residual network of 18 layers.
type ResNet18Model struct {
	Width int    `yaml:"width" check:">=1,<=8192" doc:"channels of the first stage; the others have 2, 4 and 8 times as many"`
	Stem  string `yaml:"stem" enum:"imagenet|small" doc:"imagenet: 7x7 stride 2 and pooling; small: 3x3 stride 1, for images of about 32 pixels"`
}

// ClassPairs draws pairs of images of one class. The sampler class-pairs lets
// classes repeat within a batch, as published; class-pairs-distinct does not.
type ClassPairs struct {
	Pairs int `yaml:"pairs" check:">=1,<=1000000" doc:"pairs in a batch: 2 x PAIRS images"`
}

// MPerClass draws classes, then images of each.
type MPerClass struct {
	Classes  int `yaml:"classes" check:">=2,<=1000000" doc:"classes in a batch"`
	PerClass int `yaml:"per_class" check:">=2,<=1000000" doc:"images of each class in a batch"`
}

// PairGraph gives a fixed list of pairs: the edges of a balanced pair graph (DIBS,
// section 3). No miner is asked.
type PairGraph struct {
	Scenario  string `yaml:"scenario" enum:"s2|s1|full" doc:"s2: all pairs of PAIRS/2 images, dense; s1: PAIRS of the pairs of all images, sparse; full: all pairs of all images, two for each"`
	Pairs     int    `yaml:"pairs" check:">=0,<=100000000" doc:"pairs in all, half of them similar by the labels that are trained on; not asked for by scenario full, which has two for each image"`
	Negatives string `yaml:"negatives" enum:"same-index|random" doc:"an image's different partner: of the same index in another class (text, Theorem 1), or any of it (Algorithm 1)"`
	Order     string `yaml:"order" enum:"shuffled|paper" doc:"chains join images in random order, or as they come, sorted by true class, which undoes most of the noise"`
	Redraw    bool   `yaml:"redraw" doc:"draw another graph for each epoch"`
	Size      int    `yaml:"size" check:">=1,<=1000000" doc:"pairs in a batch: 2 x SIZE images"`
}

// TripletList gives a fixed list of triplets drawn by the labels that are trained
// on. No miner is asked.
type TripletList struct {
	Triplets int  `yaml:"triplets" check:">=1,<=100000000" doc:"triplets in all"`
	Redraw   bool `yaml:"redraw" doc:"draw others for each epoch"`
	Size     int  `yaml:"size" check:">=1,<=1000000" doc:"triplets in a batch: 3 x SIZE images"`
}

// RandomMiner takes any negative.
type RandomMiner struct{}

// SemihardMiner takes a negative with d_ap < d_an < d_ap + margin, in the loss's
// distance.
type SemihardMiner struct {
	Margin *float64 `yaml:"margin" check:">0" doc:"width of the band in the loss's distance; null takes the loss's margin: margin of triplet, alpha of triplet-capped, alpha - beta of triplet-threshold, so that all negatives of the band count"`
}

// SofthardMiner takes a negative closer than the farthest positive and a
// positive farther than the closest negative. As published, the positive of the
// fallback can be the anchor itself; softhard-strict forbids that.
type SofthardMiner struct{}

// DistanceMiner takes negatives with a probability that makes distances even
// (Wu et al., 2017).
type DistanceMiner struct {
	Cutoff float64 `yaml:"cutoff" check:">=0,<2" doc:"smaller distances count as this one; 0 is off, as in Zhou and Patel, 0.5 is Wu's"`
}

// HardestMiner takes the closest negative.
type HardestMiner struct{}

// BatchAllMiner takes every valid triplet of the batch.
type BatchAllMiner struct {
	Cap int `yaml:"cap" check:">=0,<=100000000" doc:"at most so many triplets, drawn at random; 0 takes all"`
}

// SGD is stochastic gradient descent.
type SGD struct {
	Momentum float64 `yaml:"momentum" check:">=0,<1" doc:"share of the last step that is kept"`
	Nesterov bool    `yaml:"nesterov" doc:"look ahead along the momentum"`
}

// Adam is Adam and, with decoupled decay, AdamW.
type Adam struct {
	Betas [2]float64 `yaml:"betas" check:">=0,<1" doc:"decay of the two running means"`
	Eps   float64    `yaml:"eps" check:">0" doc:"added to the root of the second mean"`
}

// ConstantSchedule keeps the learning rate.
type ConstantSchedule struct{}

// StepSchedule multiplies the learning rate by Gamma at every multiple of Every.
type StepSchedule struct {
	Every component.Span `yaml:"every" units:"epochs,steps" check:">0" doc:"distance of two drops"`
	Gamma float64        `yaml:"gamma" check:">0,<=1" doc:"factor of a drop"`
}

// CosineSchedule lowers the learning rate along half a cosine to MinLR at the
// end of the run.
type CosineSchedule struct {
	MinLR float64 `yaml:"min_lr" check:">=0" doc:"learning rate at the end"`
}
