package torchfile

import (
	"math"
	"strings"
)

// The values of a pickle are nil, bool, int64, float64, string, and these.
type (
	// tuple and list hold values.
	tuple []any
	list  struct{ items []any }
	// dict is a dictionary in the order of its keys.
	dict struct {
		items []item
		index map[string]int // of keys that are texts
	}
	item struct{ key, value any }
	// long is a whole number beyond int64, as its little-endian bytes.
	long string
	// global is the name of a function or class.
	global string
	// storage is a run of numbers in the file, and tensor a view of one.
	storage struct {
		key, dtype string
		numel      int64
	}
	tensor struct {
		of           *storage
		offset       int64
		size, stride []int64
	}
)

// set puts value under key, which an earlier value of a text key gives way to.
func (d *dict) set(key, value any) {
	if name, ok := key.(string); ok {
		if at, there := d.index[name]; there {
			d.items[at].value = value
			return
		}
		if d.index == nil {
			d.index = map[string]int{}
		}
		d.index[name] = len(d.items)
	}
	d.items = append(d.items, item{key, value})
}

// get returns what is under the text key, or nil.
func (d *dict) get(key string) any {
	if at, ok := d.index[key]; ok {
		return d.items[at].value
	}
	return nil
}

// kindOf says what a value is, for messages.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case int64, long, float64:
		return "a number"
	case string:
		return "a text"
	case tuple:
		return "a tuple"
	case *list:
		return "a list"
	case *dict:
		return "a dictionary"
	case *tensor:
		return "a tensor"
	case global:
		return "the name " + string(v)
	}
	return "a value"
}

// storages are the types of numbers of PyTorch's storages.
var storages = map[global]string{
	"torch.FloatStorage": "F32", "torch.HalfStorage": "F16", "torch.BFloat16Storage": "BF16", "torch.DoubleStorage": "F64",
	"torch.LongStorage": "I64", "torch.IntStorage": "I32", "torch.ShortStorage": "I16", "torch.CharStorage": "I8",
	"torch.ByteStorage": "U8", "torch.BoolStorage": "BOOL",
}

// Names that a pickle may call; the machine does what they do to values.
const (
	orderedDict      global = "collections.OrderedDict"
	rebuildTensorOld global = "torch._utils._rebuild_tensor"
	rebuildTensor    global = "torch._utils._rebuild_tensor_v2"
	rebuildParameter global = "torch._utils._rebuild_parameter"
	parameter        global = "torch.nn.parameter.Parameter"
	torchSize        global = "torch.Size"
)

// known says whether a name may stand in a file.
func known(g global) bool {
	switch g {
	case orderedDict, rebuildTensorOld, rebuildTensor, rebuildParameter, parameter, torchSize:
		return true
	}
	return storages[g] != ""
}

// call is what the instruction REDUCE makes of a name and its arguments.
func call(g global, args tuple) (any, error) {
	switch {
	case g == orderedDict && len(args) == 0:
		return &dict{}, nil
	case g == orderedDict && len(args) == 1:
		return pairsOf(args[0])
	case g == rebuildTensor && len(args) >= 4, g == rebuildTensorOld && len(args) == 4:
		return newTensor(args)
	case (g == rebuildParameter || g == parameter) && len(args) >= 1:
		if t, ok := args[0].(*tensor); ok {
			return t, nil
		}
	case g == torchSize && len(args) == 1:
		if t, ok := args[0].(tuple); ok {
			return t, nil
		}
	}
	return nil, bad("it calls %s with arguments that PyTorch does not give it", g)
}

// pairsOf is OrderedDict of a list of pairs, as Python 2 has written it.
func pairsOf(v any) (any, error) {
	l, ok := v.(*list)
	if !ok {
		return nil, bad("it makes a dictionary of %s", kindOf(v))
	}
	d := &dict{}
	for _, i := range l.items {
		switch p := i.(type) {
		case tuple:
			if len(p) == 2 {
				d.set(p[0], p[1])
				continue
			}
		case *list:
			if len(p.items) == 2 {
				d.set(p.items[0], p.items[1])
				continue
			}
		}
		return nil, bad("it makes a dictionary of a list that is not of pairs")
	}
	return d, nil
}

// maxNumbers bounds a storage, so that its size in bytes can be counted.
const maxNumbers = 1 << 48

// newStorage is the persistent id ('storage', type, key, device, numbers), in the
// stream with a sixth field for views of storages, which PyTorch has long left empty.
func newStorage(id any, had map[string]*storage) (*storage, error) {
	t, _ := id.(tuple)
	if len(t) != 5 && len(t) != 6 || t[0] != "storage" {
		return nil, bad("it refers to something that is not a storage of numbers; save state_dict(), not the whole module")
	}
	if len(t) == 6 && t[5] != nil {
		return nil, bad("it has a view of a storage, which PyTorch wrote before 0.4; load it in a recent PyTorch and save state_dict() again")
	}
	class, _ := t[1].(global)
	key, isText := t[2].(string)
	numel, isInt := t[4].(int64)
	s := &storage{key: key, dtype: storages[class], numel: numel}
	if s.dtype == "" || !isText || !isInt || numel < 0 || numel > maxNumbers {
		return nil, bad("a storage is described as none of PyTorch's is")
	}
	if old := had[key]; old != nil {
		if *old != *s {
			return nil, bad("storage %s is described twice, and differently", short(key))
		}
		return old, nil
	}
	had[key] = s
	return s, nil
}

// maxDims is how many dimensions a tensor may have.
const maxDims = 64

// newTensor is _rebuild_tensor_v2(storage, offset, size, stride, ...): a view that must
// lie in its storage.
func newTensor(args tuple) (*tensor, error) {
	s, ok := args[0].(*storage)
	offset, isInt := args[1].(int64)
	size, stride := ints(args[2]), ints(args[3])
	if !ok || !isInt || size == nil || stride == nil || len(size) != len(stride) || len(size) > maxDims {
		return nil, bad("a tensor is described as none of PyTorch's is")
	}
	t := &tensor{s, offset, size, stride}
	if t.inside() {
		return t, nil
	}
	return nil, bad("a tensor of shape %v, strides %v, offset %d does not lie in its storage of %d numbers", size, stride, offset, s.numel)
}

// inside says that all numbers of t lie in its storage and can be counted.
func (t *tensor) inside() bool {
	n, last, empty := int64(1), t.offset, false
	if t.offset < 0 || t.offset > t.of.numel {
		return false
	}
	for i, d := range t.size {
		s := t.stride[i]
		if d < 0 || s < 0 || d > 0 && n > math.MaxInt64/8/d || d > 1 && s > (math.MaxInt64-last)/(d-1) {
			return false
		}
		if d == 0 {
			empty = true
			continue
		}
		n *= d
		last += (d - 1) * s
	}
	return empty || last < t.of.numel
}

// count returns how many numbers t has; inside has made sure that it can be counted.
func (t *tensor) count() int64 {
	n := int64(1)
	for _, d := range t.size {
		n *= d
	}
	return n
}

// ints returns the numbers of a tuple or list of them, nil for anything else.
func ints(v any) []int64 {
	var items []any
	switch v := v.(type) {
	case tuple:
		items = v
	case *list:
		items = v.items
	default:
		return nil
	}
	out := make([]int64, 0, len(items))
	for _, i := range items {
		n, ok := i.(int64)
		if !ok {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// keyWords is a key of a dictionary, for messages. Only texts are printed: other values
// may hold each other.
func keyWords(key any) string {
	if s, ok := key.(string); ok {
		return short(s)
	}
	return kindOf(key)
}

// short is a text of a file, cut for messages.
func short(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) > 60 {
		s = s[:60] + "..."
	}
	return s
}
