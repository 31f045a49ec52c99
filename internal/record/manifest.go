package record

// Status is where a run stands.
type Status string

// The states of a run.
const (
	Running     Status = "running"
	Finished    Status = "finished"
	Interrupted Status = "interrupted"
	Failed      Status = "failed"
	Collapsed   Status = "collapsed"
	Diverged    Status = "diverged"
)

// Manifest is manifest.json, schema tercet.run/1.
type Manifest struct {
	Schema     string                `json:"schema" doc:"the name and number of the schema"`
	Name       string                `json:"name" doc:"name of the run"`
	Version    string                `json:"version" doc:"version of Tercet that trained the first step"`
	Status     Status                `json:"status" doc:"'running', 'finished', 'interrupted', 'failed', 'collapsed' or 'diverged'"`
	Message    string                `json:"message,omitempty" doc:"why the run failed"`
	Seed       uint64                `json:"seed" doc:"random seed"`
	Config     string                `json:"config_hash" doc:"hash of the config"`
	Data       Data                  `json:"data" doc:"the data sets"`
	Model      Model                 `json:"model" doc:"the network"`
	Start      *StartWeights         `json:"start_weights,omitempty" doc:"initial weights, from 'model.weights'"`
	Weights    *TripletProbabilities `json:"triplet_weights,omitempty" doc:"probabilities of correct and wrong triplets, as the loss 'triplet-robust' uses them"`
	Steps      int                   `json:"steps" doc:"optimizer steps done"`
	Of         int                   `json:"steps_planned" doc:"optimizer steps planned"`
	Checkpoint int                   `json:"checkpoint_step,omitempty" doc:"step of 'last.safetensors'"`
	Log        *LogRecord            `json:"log,omitempty" doc:"state of 'events.jsonl' at that checkpoint"`
	Cost       Cost                  `json:"cost" doc:"images passed through the network"`
	Crafted    *Crafted              `json:"crafted,omitempty" doc:"statistics of the defense over all steps"`
	Waited     float64               `json:"input_seconds,omitempty" doc:"part of 'seconds' in which training waited for images to be decoded; absent if all images are in memory"`
	Seconds    float64               `json:"seconds" doc:"training time over all sessions"`
	Best       *Best                 `json:"best,omitempty" doc:"the best checkpoint"`
	Selection  *Selection            `json:"selection,omitempty" doc:"how the best checkpoint is chosen"`
	Pruned     bool                  `json:"weights_removed,omitempty" doc:"whether 'tercet runs prune' removed the last checkpoint of the finished run"`
	Stopped    *Stop                 `json:"stopped,omitempty" doc:"the early stop, if there was one"`
	Extended   []Extension           `json:"extended,omitempty" doc:"the shorter runs that this one continues, in order"`
	CPU        string                `json:"cpu" doc:"processor that trained the first step"`
	Kernel     string                `json:"kernel" doc:"kernel level of the first step, such as avx512"`
	Precision  string                `json:"crafting_precision,omitempty" doc:"numbers that crafting multiplied, such as bf16; absent if float32"`
	Builds     []Build               `json:"builds,omitempty" doc:"builds of Tercet that trained the run, in order"`
	OS         string                `json:"os" doc:"operating system"`
	Started    string                `json:"started" doc:"start of training (RFC 3339)"`
	Updated    string                `json:"updated" doc:"last change of this file"`
}

// Best names the best checkpoint.
type Best struct {
	Metric string  `json:"metric" doc:"the score that selects"`
	Value  float64 `json:"value" doc:"its value"`
	Step   int     `json:"step" doc:"step of the checkpoint"`
}

// Data identifies what a run was trained and evaluated on: sets under their true
// labels.
type Data struct {
	Name       string        `json:"name" doc:"name of the data"`
	From       string        `json:"from,omitempty" doc:"directory that relative paths of the data start from"`
	Train      Set           `json:"train" doc:"the training set"`
	Validation *Set          `json:"validation,omitempty" doc:"the validation set"`
	Test       Set           `json:"test" doc:"the test set"`
	Pixels     *Pixels       `json:"pixels,omitempty" doc:"how image files become pixels, if 'data.transform' is set"`
	Broken     []BrokenImage `json:"broken,omitempty" doc:"images that 'data.skip_broken' left out"`
	Noise      *Noise        `json:"noise,omitempty" doc:"noise on the training labels, pairs or triplets (first epoch)"`
	Graph      *PairGraph    `json:"graph,omitempty" doc:"the pair graph of the first epoch"`
	Triplets   *Triplets     `json:"triplets,omitempty" doc:"the triplets of the first epoch"`
}

// Pixels says how images are made from files.
type Pixels struct {
	Decoder string `json:"decoder" doc:"decoder of image files"`
	Resize  string `json:"resize" doc:"implementation of resizing, such as 'pillow, 8 bits'"`
	Train   string `json:"train" doc:"transform of training images, with all arguments"`
	Test    string `json:"test" doc:"transform of all other images"`
	From    string `json:"from,omitempty" doc:"origin of the pixels if they come from a packed file, such as 'packed short 256'"`
}

// Set identifies one set.
type Set struct {
	Items       int    `json:"items" doc:"number of items"`
	Classes     int    `json:"classes" doc:"number of classes"`
	Shape       [3]int `json:"shape" doc:"height, width, channels"`
	Fingerprint string `json:"fingerprint" doc:"SHA-256 of images and labels"`
}

// Model describes the network.
type Model struct {
	Name       string `json:"name" doc:"name of the network"`
	Embedding  int    `json:"embedding" doc:"dimension of the embedding"`
	Parameters int    `json:"parameters" doc:"number of parameters"`
}

// StartWeights says with what weights a network began.
type StartWeights struct {
	File       string   `json:"file" doc:"the file, as the config names it"`
	SHA256     string   `json:"sha256" doc:"SHA-256 of the file"`
	Format     string   `json:"format" doc:"'safetensors', 'pth' or 'checkpoint'"`
	Under      string   `json:"under,omitempty" doc:"prefix of the tensor names in the file"`
	Taken      int      `json:"taken" doc:"number of tensors loaded: all of the network except those below"`
	OtherShape []string `json:"other_shape,omitempty" doc:"tensors of the last layer that were not loaded because their shape differs"`
	Missing    []string `json:"missing,omitempty" doc:"tensors of the network that the file does not have"`
	Dropped    []string `json:"dropped,omitempty" doc:"tensors of the file that the network does not have"`
}

// Selection says by what a run chooses its best checkpoint and, where it may, its
// last step.
type Selection struct {
	Split  string `json:"split" doc:"split that selects: 'validation', 'test' or 'train'"`
	Metric string `json:"metric" doc:"the score that selects"`
	Note   string `json:"note,omitempty" doc:"warning if test images chose the checkpoint, so that test scores are too good"`
}

// ChosenOnTest says what test images have chosen of a run's checkpoint, "last" or "best":
// "stopping step", "best checkpoint", or "" for nothing.
func (m *Manifest) ChosenOnTest(checkpoint string) string {
	split := ""
	switch {
	case m.Selection != nil:
		split = m.Selection.Split
	case m.Best == nil, m.Best.Metric == "loss", m.Best.Metric == "pair_train_accuracy":
	case m.Data.Validation == nil: // older versions took the test set then
		split = "test"
	}
	switch {
	case split != "test":
		return ""
	case checkpoint == "best":
		return "best checkpoint"
	case m.Stopped != nil || m.Status == "finished" && m.Steps < m.Of:
		return "stopping step"
	}
	return ""
}

// Stop says why a run ended before its last step.
type Stop struct {
	Step   int    `json:"step" doc:"step of the stop"`
	Reason string `json:"reason" doc:"reason in words"`
}

// Extension names the run that a longer one continues.
type Extension struct {
	Run      string `json:"run" doc:"name of the shorter run"`
	Config   string `json:"config_hash" doc:"hash of its config"`
	Step     int    `json:"step" doc:"step at which it ended"`
	Schedule string `json:"schedule,omitempty" doc:"how the learning rate schedule continues: 'keep', 'restart' or 'stretch'; absent if it does not depend on the number of steps"`
}

// TripletProbabilities says what triplet-robust takes for the probabilities of its triplets.
type TripletProbabilities struct {
	From     string  `json:"from" doc:"where they come from: 'config', 'noise' (the noise of the config), or the file of 'noise_from'"`
	W1       float64 `json:"w1" doc:"probability that a triplet is correct"`
	W2       float64 `json:"w2" doc:"probability that positive and negative are exchanged"`
	Contrast float64 `json:"contrast" doc:"w1 - w2, the fraction of the clean signal that remains"`
	TripletWeights
}

// Build is what has trained a run from a step on. Another version or kernel may give
// other last bits.
type Build struct {
	Step    int    `json:"step" doc:"steps done before this build"`
	Version string `json:"version" doc:"version of the program"`
	Kernel  string `json:"kernel" doc:"kernel level, such as avx512"`
	CPU     string `json:"cpu" doc:"name of the processor"`
}

func (Manifest) kind() kind { return kind{schemas: []string{RunSchema}, max: 1 << 20} }

// Layer is one line of a model's description.
type Layer struct {
	Name   string `json:"name" doc:"name of the layer"`
	Kind   string `json:"kind" doc:"kind, such as 'Conv2D'"`
	Out    []int  `json:"out" doc:"shape of one output"`
	Params int    `json:"params" doc:"number of trained numbers"`
	FLOPs  int64  `json:"flops" doc:"operations of a forward pass of one image: products (a multiply-add is two) and batch norm"`
}
