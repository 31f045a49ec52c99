package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tercet/internal/option"
)

// Variant is one run of a sweep.
type Variant struct {
	Name string   // suffix of the run's name, such as "steps-2_seed-0"; empty without a sweep
	Sets []string // "key=value" of each axis, in the file's order
}

const (
	maxVariants = 100_000
	maxValues   = 1000 // of one axis
)

// Sweep returns the product of the axes, the last axis turning fastest. A config
// without a sweep is one variant without sets.
func (c *Config) Sweep() ([]Variant, error) {
	if err := c.checkAxes(); err != nil {
		return nil, err
	}
	total := 1
	for _, a := range c.Axes {
		if total *= len(a.Values); total > maxVariants {
			return nil, a.at.errorf("sweep", fmt.Sprintf("makes more than %d runs", maxVariants))
		}
	}
	short := shortNames(c.Axes)
	out := make([]Variant, total)
	seen := map[string]int{}
	for i := range out {
		parts := make([]string, len(c.Axes))
		sets := make([]string, len(c.Axes))
		rest := i
		for j := len(c.Axes) - 1; j >= 0; j-- {
			a := c.Axes[j]
			value := a.Values[rest%len(a.Values)]
			rest /= len(a.Values)
			parts[j] = short[j] + "-" + fileWord(value)
			sets[j] = a.Key + "=" + value
		}
		name := strings.Join(parts, "_")
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		out[i] = Variant{name, sets}
	}
	return out, nil
}

// Variant returns the config of one run of the sweep: without sweep and search, and
// with the variant's name after its own.
func (c *Config) Variant(v Variant) (*Config, error) {
	over := append([]Override(nil), c.src.overrides...)
	for _, s := range v.Sets {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, &Error{File: "sweep", Msg: fmt.Sprintf("%q is not of the form key=value", s)}
		}
		o := Override{Key: key, Value: value, From: "sweep"}
		axes := slices.Concat(c.Axes, c.Search.Space)
		if a := slices.IndexFunc(axes, func(a Axis) bool { return a.Key == key }); a >= 0 {
			o.From, o.line = axes[a].at.file, axes[a].at.line
		}
		over = append(over, o)
	}
	var kept []Override
	for _, o := range over {
		if section, _, _ := strings.Cut(o.Key, "."); section != "sweep" && section != "search" {
			kept = append(kept, o)
		}
	}
	tree := c.src.tree
	if tree != nil {
		tree = keep(tree, func(key string) bool { return key != "sweep" && key != "search" })
	}
	out, err := build(tree, kept)
	if err != nil {
		return nil, err
	}
	if v.Name == "" {
		return out, nil
	}
	out.Name += "-" + v.Name
	var errs []*Error
	out.nameRule(func(key, format string, args ...any) { // build has checked the rest
		errs = append(errs, out.src.origin(key).errorf(key, fmt.Sprintf(format, args...)))
	})
	if len(errs) > 0 {
		return nil, join(errs)
	}
	return out, nil
}

// checkAxes returns all mistakes of the axes.
func (c *Config) checkAxes() error { return join(c.axisMistakes(nil)) }

// axisMistakes tries every value of every axis once, the others at their first, and
// returns the mistakes that are not in known.
func (c *Config) axisMistakes(known []*Error) []*Error {
	seen := map[Error]bool{}
	for _, e := range known {
		seen[*e] = true
	}
	var out []*Error
	var swept Axes // those that can be tried
	for _, a := range c.Axes {
		if e := c.axisMistake(a); e != nil {
			out = append(out, e)
		} else {
			swept = append(swept, a)
		}
	}
	for i, a := range swept {
		for k := range a.Values {
			if i > 0 && k == 0 {
				continue // tried with the first axis
			}
			out = append(out, c.try(swept, i, k, seen)...)
		}
	}
	return out
}

// axisMistake is what is wrong with an axis whatever its values do.
func (c *Config) axisMistake(a Axis) *Error {
	head, _, _ := strings.Cut(a.Key, ".")
	if head == "name" || head == "sweep" || head == "include" || a.Key == "" {
		return a.at.errorf("sweep."+a.Key, "this key cannot be swept")
	}
	for _, o := range c.src.overrides {
		if o.Key == a.Key || strings.HasPrefix(a.Key, o.Key+".") || strings.HasPrefix(o.Key, a.Key+".") {
			return &Error{File: o.From, Key: o.Key, Msg: fmt.Sprintf(
				"is swept by this config (%[1]s); write %[3]s sweep.%[2]s=[VALUE] to run one value, or %[3]s sweep=null for no sweep", a.at, a.Key, option.Name("set"))}
		}
	}
	if len(a.Values) > maxValues {
		return a.at.errorf("sweep."+a.Key, fmt.Sprintf("lists %d values; the limit is %d", len(a.Values), maxValues))
	}
	seen := map[string]bool{}
	for _, value := range a.Values {
		if seen[value] {
			return a.at.errorf("sweep."+a.Key, fmt.Sprintf("lists %s twice", value))
		}
		seen[value] = true
	}
	return nil
}

// try returns the mistakes of the run with the axis at that value and the others at
// their first, but for those in seen, and adds them there.
func (c *Config) try(axes Axes, axis, value int, seen map[Error]bool) []*Error {
	sets := make([]string, len(axes))
	for j, a := range axes {
		k := 0
		if j == axis {
			k = value
		}
		sets[j] = a.Key + "=" + a.Values[k]
	}
	_, err := c.Variant(Variant{Sets: sets})
	var out []*Error
	for _, e := range mistakes(err) {
		if seen[*e] {
			continue
		}
		seen[*e] = true
		from := sets[axis]
		for j, a := range axes {
			if e.Key == a.Key || strings.HasPrefix(e.Key, a.Key+".") {
				from = sets[j]
			}
		}
		out = append(out, e.at().errorf(e.Key, fmt.Sprintf("%s (with the sweep's %s)", e.Msg, from)))
	}
	return out
}

func (e *Error) at() origin { return origin{e.File, e.Line} }

// shortNames are the last parts of the axes' keys, as many as tell them apart.
func shortNames(axes Axes) []string {
	out := make([]string, len(axes))
	for i, a := range axes {
		parts := strings.Split(a.Key, ".")
		for n := 1; n <= len(parts); n++ {
			out[i] = strings.Join(parts[len(parts)-n:], ".")
			if !sharedTail(axes, i, out[i]) {
				break
			}
		}
	}
	return out
}

func sharedTail(axes Axes, i int, tail string) bool {
	for j, a := range axes {
		if j != i && (a.Key == tail || strings.HasSuffix(a.Key, "."+tail)) {
			return true
		}
	}
	return false
}

var notFileWord = regexp.MustCompile(`[^A-Za-z0-9.+-]+`)

func fileWord(value string) string {
	w := strings.Trim(notFileWord.ReplaceAllString(value, "-"), "-")
	w = w[:min(len(w), 40)]
	if strings.HasPrefix(value, "-") {
		w = "-" + w
	}
	return w
}
