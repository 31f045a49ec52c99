package weights

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/data/fault"
	"tercet/internal/engine/nn"
	"tercet/internal/engine/tensors"
	"tercet/internal/lists"
	"tercet/internal/record"
	"tercet/internal/safetensors"
	"tercet/internal/text"
)

// prefixes stand before the names of a network that was part of another one.
var prefixes = []string{"module.", "model.", "backbone.", "encoder.", "net.", "_model."}

// counter ends the names of PyTorch's counters of batches, which nothing reads.
const counter = ".num_batches_tracked"

// meanStd begins the names of what normalizes pixels, which the config sets.
const meanStd = "mean_std."

// Fill copies the file's weights into m and returns what it took. The head, the last
// linear layer, keeps the weights that it has where the file's have another shape or are
// not there. Errors wrap fault.ErrUnfit where the file is of another network, and
// fault.ErrFormat where its numbers cannot be weights; m is then as it was.
func (f *File) Fill(m *nn.Model) (*record.StartWeights, error) {
	r := &record.StartWeights{File: f.Path, SHA256: f.SHA256, Format: f.Format}
	own := targets(m, f.Format)
	prefix := f.prefix(own)
	r.Under = strings.TrimPrefix(f.Wrapper+"."+strings.TrimSuffix(prefix, "."), ".")
	r.Under = strings.TrimSuffix(r.Under, ".")
	head := headOf(own)
	var taken []*target
	var wrong []string
	for i := range f.Tensors {
		t := &f.Tensors[i]
		name, ok := strings.CutPrefix(t.Name, prefix)
		to := own[name]
		switch {
		case strings.HasSuffix(name, counter):
		case !ok || to == nil:
			r.Dropped = append(r.Dropped, t.Name)
		case !slices.Equal(t.Shape, to.shape):
			to.found = true
			said := fmt.Sprintf("%s %s in place of %s", name, shapeWords(t.Shape), shapeWords(to.shape))
			if r.OtherShape = append(r.OtherShape, said); !strings.HasPrefix(name, head) {
				wrong = append(wrong, said)
			}
		default:
			to.found, to.from = true, t
			taken = append(taken, to)
		}
	}
	for _, to := range inOrder(own) {
		if !to.found {
			r.Missing = append(r.Missing, to.name)
		}
	}
	r.Taken = len(taken)
	if err := f.fits(r, m, head, prefix, wrong, own); err != nil {
		return nil, err
	}
	for _, to := range taken {
		if err := f.sound(to); err != nil {
			return nil, err
		}
	}
	for _, to := range taken {
		to.take(to.from.Data)
	}
	return r, nil
}

// target is a tensor of the network.
type target struct {
	order int
	name  string
	shape []int // in the file
	take  func(data []float32)
	same  func(data []float32) bool // whether it has these numbers
	from  *safetensors.Tensor
	found bool // in the file, perhaps of another shape
}

// targets are the tensors of m by name, as a file of that format has them.
func targets(m *nn.Model, format string) map[string]*target {
	out := map[string]*target{}
	params := m.Params()
	for i, t := range m.TorchTensors() {
		p := params[i]
		to := &target{order: i, name: t.Name, shape: t.Shape, take: func(data []float32) { copy(p.Value.Data, tensors.Restore(data, t.View, t.Axes)) }}
		if format == Checkpoint {
			to.shape, to.take = t.Here, func(data []float32) { copy(p.Value.Data, data) }
		}
		to.same = func(data []float32) bool { return slices.Equal(data, p.Value.Data) }
		out[t.Name] = to
	}
	return out
}

func inOrder(own map[string]*target) []*target {
	out := make([]*target, len(own))
	for _, t := range own {
		out[t.order] = t
	}
	return out
}

// headOf is what the names of the last linear layer's tensors begin with.
func headOf(own map[string]*target) string {
	list := inOrder(own)
	for i := len(list) - 1; i >= 0; i-- {
		if layer, ok := strings.CutSuffix(list[i].name, ".weight"); ok && len(list[i].shape) == 2 {
			return layer + "."
		}
	}
	return "-" // no name begins so
}

// prefix is the one, of at most two words, with which most names are those of the
// network.
func (f *File) prefix(own map[string]*target) string {
	best, most := "", -1
	try := func(p string) {
		n := 0
		for _, t := range f.Tensors {
			if name, ok := strings.CutPrefix(t.Name, p); ok && own[name] != nil {
				n++
			}
		}
		if n > most {
			best, most = p, n
		}
	}
	try("")
	for _, a := range prefixes {
		try(a)
	}
	for _, a := range prefixes {
		for _, b := range prefixes {
			try(a + b)
		}
	}
	return best
}

// fits returns an error unless the file is one of m's network, whatever its head.
func (f *File) fits(r *record.StartWeights, m *nn.Model, head, prefix string, wrong []string, own map[string]*target) error {
	name := m.Spec().Name
	unfit := func(format string, args ...any) error {
		return fault.Unfit("weights %s do not fit model %s: %s", f.Path, name, fmt.Sprintf(format, args...))
	}
	missing := lists.Filter(r.Missing, func(n string) bool { return !strings.HasPrefix(n, head) && !strings.HasPrefix(n, meanStd) })
	switch {
	case r.Taken == 0 && len(wrong) == 0:
		return unfit("none of its tensors (%s) has the name of one of the network's (%s)", few(namesOf(f.Tensors)), few(namesIn(own)))
	case len(missing) > 0:
		return unfit("it lacks %s", few(missing))
	case len(wrong) == 1 && strings.HasPrefix(wrong[0], "conv1.weight "):
		return unfit("%s: the images have another number of channels (data.color), or the stem is another (model.stem)", wrong[0])
	case len(wrong) > 0:
		return unfit("%s: it is of another network", few(wrong))
	}
	var deeper []string
	for _, d := range r.Dropped {
		first, _, nested := strings.Cut(strings.TrimPrefix(d, prefix), ".")
		if nested && first+"." != head && begins(own, first+".") {
			deeper = append(deeper, d)
		}
	}
	if len(deeper) > 0 {
		return unfit("it has %s besides: it is of another network", few(deeper))
	}
	return f.sameMeanStd(own)
}

// sameMeanStd refuses a checkpoint whose pixels were normalized otherwise.
func (f *File) sameMeanStd(own map[string]*target) error {
	for i := range f.Tensors {
		t := &f.Tensors[i]
		if !strings.HasPrefix(t.Name, meanStd) || f.Format != Checkpoint {
			continue
		}
		if to := own[t.Name]; to == nil || !to.same(t.Data) {
			return fault.Unfit("weights %s: its network has %s %v: set model.mean_std to that of its config", f.Path, t.Name, t.Data)
		}
	}
	return nil
}

// sound refuses numbers that cannot be weights.
func (f *File) sound(to *target) error {
	variance, positive := strings.HasSuffix(to.name, ".running_var"), false
	for i, v := range to.from.Data {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fault.Bad("weights %s: %s[%d] is %v, and weights are finite", f.Path, to.from.Name, i, v)
		}
		if variance && v < 0 {
			return fault.Bad("weights %s: %s[%d] is %v, and a variance is not below 0", f.Path, to.from.Name, i, v)
		}
		positive = positive || v > 0
	}
	if variance && !positive {
		return fault.Bad("weights %s: %s is 0 in all channels: its statistics were never taken", f.Path, to.from.Name)
	}
	return nil
}

// begins says that some name begins with prefix.
func begins(own map[string]*target, prefix string) bool {
	for name := range own {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func namesOf(list []safetensors.Tensor) []string {
	return lists.Map(list, func(t safetensors.Tensor) string { return t.Name })
}

func namesIn(own map[string]*target) []string {
	return lists.Map(inOrder(own), func(t *target) string { return t.name })
}

// few is a list of at most five names in words.
func few(names []string) string {
	if n := len(names); n > 5 {
		names = append(slices.Clone(names[:4]), fmt.Sprintf("%d others", n-4))
	}
	if len(names) == 0 {
		return "none"
	}
	return text.List(names, "and")
}

// shapeWords is a shape as Python writes it.
func shapeWords(shape []int) string {
	list := lists.Map(shape, strconv.Itoa)
	if len(list) == 1 {
		return "(" + list[0] + ",)"
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// Unnormalized says that a ResNet takes pixels as they are, and that its weights came
// from PyTorch, where they seldom do.
func Unnormalized(r *record.StartWeights, s nn.Spec) bool {
	return r.Format != Checkpoint && strings.HasPrefix(s.Name, "resnet") && s.Channels == 3 && s.MeanStd == nil
}

// Words says in one line what was taken.
func Words(r *record.StartWeights) string {
	s := fmt.Sprintf("%s (SHA-256 %.8s): %s taken", r.File, r.SHA256, text.Plural(r.Taken, "tensor", "tensors"))
	for _, p := range []struct {
		names []string
		what  string
	}{
		{r.OtherShape, "of another shape, drawn instead"}, {r.Missing, "not in the file, as the config says"}, {r.Dropped, "of the file dropped"},
	} {
		if len(p.names) > 0 {
			s += fmt.Sprintf("; %s: %s", p.what, few(p.names))
		}
	}
	return s
}
