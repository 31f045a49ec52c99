package component

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tercet/internal/names"
)

// Fault is a value that cannot be, or that does not fit the rest.
type Fault struct {
	Key string // below the section's, such as "margin"
	Msg string // what is wrong and what to do, to be read after the key
}

// Faultf returns a fault.
func Faultf(key, format string, args ...any) Fault { return Fault{key, fmt.Sprintf(format, args...)} }

// Checker is implemented by options that ask more of their values than tags say.
type Checker interface{ Check() []Fault }

// Check returns the faults of options, a struct: those against the tags of its fields,
// and if there are none those that it finds itself.
func Check(options any) []Fault {
	out := CheckTags(options)
	if c, ok := options.(Checker); ok && len(out) == 0 {
		out = c.Check()
	}
	return out
}

// CheckTags returns the faults of options against the tags of its fields.
func CheckTags(options any) []Fault { return checkFields(reflect.ValueOf(options), "") }

// Err is Check for constructors: the first fault as an error after that prefix, which
// says whose options they are.
func Err(prefix string, options any) error {
	if list := Check(options); len(list) > 0 {
		return fmt.Errorf("%s: %s %s", prefix, list[0].Key, list[0].Msg)
	}
	return nil
}

func checkFields(v reflect.Value, path string) (out []Fault) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("yaml")
		if name == "" || name == "-" {
			continue
		}
		if IsSection(f.Type) {
			out = append(out, checkFields(v.Field(i), path+name+".")...)
			continue
		}
		for _, msg := range CheckValue(v.Field(i), f.Tag) {
			out = append(out, Fault{path + name, msg})
		}
	}
	return out
}

// IsSection says whether a field of type t holds keys, not a value.
func IsSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[Span]() && t != reflect.TypeFor[Auto]()
}

// CheckValue returns what is wrong with a key's value by its tags enum and check.
func CheckValue(v reflect.Value, tag reflect.StructTag) (out []string) {
	if words := Words(tag); words != nil {
		if msg := oneOf(v.String(), words); msg != "" {
			out = append(out, msg)
		}
	}
	rules := rulesOf(tag)
	if rules == nil {
		return out
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return out
		}
		v = v.Elem()
	}
	var list []float64
	switch x := v.Interface().(type) {
	case Auto:
		if x.Given {
			list = append(list, x.N)
		}
	case Span:
		list = append(list, x.N)
	default:
		if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
			list = append(list, float(v))
			break
		}
		if v.Len() == 0 {
			return append(out, "must have at least one value")
		}
		for i := range v.Len() {
			list = append(list, float(v.Index(i)))
		}
	}
	for _, x := range list {
		if msg := inRange(x, rules); msg != "" {
			out = append(out, msg)
		}
	}
	return out
}

// bounds is a check tag and what it says.
type bounds struct {
	text string
	list []Rule
}

// read are the bounds of the tags of fields, which take longer to read than to check.
var read sync.Map // of reflect.StructTag to *bounds

// rulesOf are the bounds of a field by its tags, nil where it has none.
func rulesOf(tag reflect.StructTag) *bounds {
	if b, ok := read.Load(tag); ok {
		return b.(*bounds)
	}
	var b *bounds
	if text := tag.Get("check"); text != "" {
		b = &bounds{text, Rules(text)}
	}
	read.Store(tag, b)
	return b
}

func oneOf(word string, valid []string) string {
	if slices.Contains(valid, word) {
		return ""
	}
	return fmt.Sprintf("unknown value %q; %s", word, names.Unknown(word, valid))
}

func float(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

// Rule is one bound of a check tag: "<", "<=", ">" or ">=", and the limit.
type Rule struct {
	Op    string
	Limit float64
}

// Rules returns the bounds of a check tag, none of an empty one. It panics on a bad
// tag: a mistake in the program.
func Rules(tag string) (out []Rule) {
	if tag == "" {
		return nil
	}
	for r := range strings.SplitSeq(tag, ",") {
		number := strings.TrimLeft(r, "<>=")
		op := r[:len(r)-len(number)]
		limit, err := strconv.ParseFloat(number, 64)
		if err != nil || !slices.Contains([]string{"<", "<=", ">", ">="}, op) {
			panic("component: bad check tag " + tag)
		}
		out = append(out, Rule{op, limit})
	}
	return out
}

// holds says whether x is within the bound. NaN is not.
func (r Rule) holds(x float64) bool {
	switch r.Op {
	case "<":
		return x < r.Limit
	case "<=":
		return x <= r.Limit
	case ">":
		return x > r.Limit
	}
	return x >= r.Limit
}

// inRange says what is wrong with x by its bounds, "" if nothing. Infinity is never
// right.
func inRange(x float64, b *bounds) string {
	ok := !math.IsInf(x, 0)
	for _, r := range b.list {
		ok = ok && r.holds(x)
	}
	if ok {
		return ""
	}
	finite := ""
	if math.IsInf(x, 0) {
		finite = "finite and "
	}
	return fmt.Sprintf("must be %s%s, is %s", finite, strings.ReplaceAll(b.text, ",", " and "), Number(x))
}
