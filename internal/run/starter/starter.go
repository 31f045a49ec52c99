package starter

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"tercet/internal/config"
	"tercet/internal/data"
	"tercet/internal/run"
	"tercet/internal/text"
	"tercet/internal/wire"
)

// starter is a config that begins: what was found out about its data.
type starter struct {
	source, root string
	name         string   // of the run
	head         []string // what was seen, for the comment at the top
	data         []string // lines of the section data, without split
	split        []string // lines of data.split
	model        []string
	vectors      bool

	fraction     float64 // of each class to train on; 0 where the split is another
	validation   float64
	kept         string // why nothing is held out
	classes, per int    // of a batch
	epochs       int
}

// Starter writes a commented config that trains on the data at root: a source of
// data.Sources, and its folder (of npy and idx also a file in it; of glyphs none). It
// reads the data, and what it returns passes CheckConfig and trains.
func Starter(ctx context.Context, source, root string) ([]byte, error) {
	s := &starter{source: source, root: root, name: runName(source, root)}
	if err := s.look(ctx); err != nil {
		return nil, err
	}
	open := wire.Once(data.Open)
	if err := s.measure(ctx, open); err != nil {
		return nil, err
	}
	out := s.text()
	cfg, err := config.LoadBytes(out, "the starter config", nil)
	if err != nil {
		return nil, err
	}
	if _, err := run.Precheck(ctx, cfg, open, nil); err != nil {
		return nil, err
	}
	return out, nil
}

// look chooses the section data and the model by what is at the root.
func (s *starter) look(ctx context.Context) error {
	c, known := data.Family.Lookup(s.source)
	if !known {
		return fmt.Errorf("unknown source %q", s.source)
	}
	begin := &data.Start{Root: s.root, Split: "file", About: "the test images of the source: unseen images of the same classes"}
	if by, ok := c.Defaults.(data.Starting); ok {
		var err error
		if begin, err = by.Start(ctx, s.root); err != nil {
			return err
		}
	}
	if begin.Seen != "" {
		s.head = append(s.head, begin.Seen)
	}
	if begin.Root != "" {
		s.data = append(s.data, rootLine(begin.Root))
	}
	s.data = append(s.data, begin.Lines...)
	s.split = []string{fmt.Sprintf("kind: %-19s # %s", begin.Split, cmp.Or(begin.About, aboutSplit[begin.Split]))}
	switch begin.Split {
	case "class":
		s.split = append(s.split, "train: 0.5                # of the classes")
	case "fraction":
		s.fraction = 0.8
	}
	s.model = []string{
		"name: cnn                   # small and quick; resnet18 is stronger and many times slower",
		"width: 16",
		"embedding: 64               # numbers that stand for an image",
	}
	if s.vectors = c.Defaults.Traits().Vectors; s.vectors {
		s.model = []string{"name: mlp                   # three linear layers", "width: 200", "embedding: 64               # numbers that stand for a vector"}
	}
	return nil
}

var aboutSplit = map[string]string{
	"class":    "test on unseen classes; fraction: on unseen images of the same classes",
	"fraction": "test on unseen images of the same classes; class: on unseen classes",
	"file":     "train and test as they are",
}

// measure opens the data, and fits the batch, the validation set and the length to
// them.
func (s *starter) measure(ctx context.Context, open wire.Opener) error {
	s.epochs, s.classes, s.per = 1, 2, 2
	cfg, err := config.LoadBytes(s.text(), "the starter config", nil)
	if err != nil {
		return err
	}
	sets, err := wire.OpenWith(ctx, cfg, open, nil)
	if err != nil {
		return err
	}
	if s.fraction > 0.5 && sets.Test != nil && smallestClass(sets.Test) < 2 { // nothing to find for a query
		s.fraction = 0.5
		return s.measure(ctx, open)
	}
	what := "" // as the words before it say
	if len(s.head) == 0 {
		what = " images"
	}
	s.head = append(s.head, fmt.Sprintf("%d%s to train on, of %s", sets.Train.Len(), what, text.Plural(data.Distinct(sets.Train.Labels()), "class", "classes")))
	s.holdOut(sets)
	if err := sets.HoldOut(s.validation, 0); err != nil {
		return err
	}
	usable, least := 0, 0
	for _, n := range classSizes(sets.Train) {
		if n < 2 {
			continue
		}
		if usable++; least == 0 || n < least {
			least = n
		}
	}
	if usable < 2 {
		return fmt.Errorf("%w: %s to train on with two items or more; training needs two", data.ErrUnfit, text.Plural(usable, "class", "classes"))
	}
	s.classes, s.per = min(usable, 16), min(least, 4)
	steps := max(1, sets.Train.Len()/(s.classes*s.per))
	s.epochs = min(max(starterSteps/steps, 1), 30)
	return nil
}

// starterSteps is about how long a first run is, in optimizer steps.
const starterSteps = 1500

// HoldOut chooses the share of the training set that picks the best checkpoint: some
// where enough is left to train on.
func (s *starter) holdOut(sets *wire.Sets) {
	switch n, classes := sets.Train.Len(), data.Distinct(sets.Train.Labels()); {
	case sets.Test != nil && wire.Disjoint(sets.Train, sets.Test):
		switch {
		case classes >= 10:
			s.validation = 0.2
		case classes >= leastClasses:
			s.validation = wire.TwoOf(classes)
		default:
			s.kept = fmt.Sprintf("%s to train on are too few to hold out two", text.Plural(classes, "class", "classes"))
		}
	case n >= 10_000:
		s.validation = 0.1
	case smallestClass(sets.Train) >= 10:
		s.validation = 0.2
	default:
		s.kept = "a class has fewer than 10 items, too few to hold some out"
	}
}

// leastClasses is the number of training classes from which two can be held out.
const leastClasses = 6

// classSizes counts the items of each class that has any.
func classSizes(ds data.Dataset) map[int32]int {
	out := map[int32]int{}
	for _, l := range ds.Labels() {
		out[l]++
	}
	return out
}

// smallestClass is the number of items of the smallest class.
func smallestClass(ds data.Dataset) int {
	least := 0
	for _, n := range classSizes(ds) {
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

// text is the config.
func (s *starter) text() []byte {
	var b strings.Builder
	line := func(depth int, text string) { b.WriteString(strings.Repeat("  ", depth) + text + "\n") }
	lines := func(depth int, list []string) {
		for _, l := range list {
			line(depth, l)
		}
	}
	what := s.source
	if s.root != "" {
		what += " " + s.root
	}
	line(0, config.EditorLine)
	line(0, "# Written by tercet config init "+strings.Map(oneLine, what)+".")
	if len(s.head) > 0 {
		line(0, "# Found: "+strings.Join(s.head, "; ")+".")
	}
	line(0, "# tercet config keys lists every key, tercet config check checks this file;")
	line(0, "# tercet config schema > tercet.schema.json makes editors complete and check it.")
	line(0, "name: "+text.YAML(s.name)+"   # the run's folder is runs/NAME")
	line(0, "seed: 0")
	line(0, "\ndata:")
	line(1, "name: "+s.source)
	lines(1, s.data)
	line(1, "split:")
	lines(2, s.split)
	if s.fraction > 0 {
		line(2, fmt.Sprintf("train: %-18g # of each class's items", s.fraction))
	}
	if s.validation > 0 {
		line(2, fmt.Sprintf("validation: %-13g # held out of the training set: it picks the best checkpoint", s.validation))
	} else {
		line(2, "validation: 0             # "+s.kept+": test images pick the best checkpoint")
	}
	if !s.vectors {
		line(1, "augment: {crop_padding: 2, flip: false}   # flip: true where mirrored images are of the same class")
	}
	line(0, "\nmodel:")
	lines(1, s.model)
	line(0, "\nbatch:")
	line(1, "sampler: m-per-class        # some classes, some items of each")
	line(1, fmt.Sprintf("classes: %d", s.classes))
	line(1, fmt.Sprintf("per_class: %d", s.per))
	line(0, "\nloss: {name: triplet, margin: 0.2}")
	line(0, "miner: semihard               # tercet config keys miner.name says what the others do")
	line(0, "optimizer: {name: adam, lr: 1e-3}")
	line(0, fmt.Sprintf("train: {epochs: %d}", s.epochs))
	return []byte(b.String())
}

// rootLine is the key data.root.
func rootLine(root string) string {
	if filepath.IsAbs(root) {
		return "root: " + text.YAML(root)
	}
	return "root: " + text.YAML(root) + "   # relative to the folder that tercet runs in"
}

// oneLine keeps a path from ending the comment that it is in.
func oneLine(r rune) rune {
	if r < ' ' {
		return '?'
	}
	return r
}

var notRunName = regexp.MustCompile(`[^A-Za-z0-9_.+-]+`)

// runName is a name for a run on the data at root.
func runName(source, root string) string {
	base := filepath.Base(root)
	if abs, err := filepath.Abs(root); root != "" && err == nil {
		base = filepath.Base(abs)
	}
	base = strings.TrimSuffix(base, ".npy")
	name := strings.Trim(notRunName.ReplaceAllString(base, "-"), "-.+=")
	if root == "" || name == "" {
		return source
	}
	return name[:min(len(name), 100)]
}
