package observe

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	numbers "tercet/internal/text"
)

// Where are conditions on sources: a value, or a list of which one fits. A text with "!"
// before it must not be the value; <number> is any number, * in a text any letters. What a run does not have is "".
type Where map[string]any

// wants lists the values of a condition as text.
func wants(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	out := make([]string, len(list))
	for i, x := range list {
		switch x := x.(type) {
		case nil:
			out[i] = "null"
		case float64:
			out[i] = Short(x)
		default:
			out[i] = fmt.Sprint(x)
		}
	}
	return out
}

// Fits says whether every condition holds of the texts at its source.
func (w Where) Fits(text func(source string) string) bool {
	for source, v := range w {
		have := text(source)
		if s, err := strconv.Unquote(have); err == nil {
			have = s
		}
		any, all := false, true
		negated := false
		for _, want := range wants(v) {
			if not, is := strings.CutPrefix(want, "!"); is {
				negated = true
				all = all && !same(have, not)
				continue
			}
			any = any || same(have, want)
		}
		if !all || !negated && !any {
			return false
		}
	}
	return true
}

// same compares texts, numbers as numbers.
func same(have, want string) bool {
	x, err := strconv.ParseFloat(have, 64)
	if want == "<number>" {
		return err == nil
	}
	if y, bad := strconv.ParseFloat(want, 64); err == nil && bad == nil {
		return x == y || math.Abs(x-y) <= 1e-9*math.Abs(y)
	}
	return like(have, want)
}

// like says whether text is the pattern, in which * stands for any letters or none.
func like(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return text == pattern
	}
	text, ok := strings.CutPrefix(text, parts[0])
	for _, p := range parts[1 : len(parts)-1] {
		at := strings.Index(text, p)
		if ok = ok && at >= 0; ok {
			text = text[at+len(p):]
		}
	}
	return ok && strings.HasSuffix(text, parts[len(parts)-1])
}

// check refuses conditions that nothing can fit.
func (w Where) Check() error {
	for _, source := range w.Sources() {
		list, ok := w[source].([]any)
		if !ok {
			list = []any{w[source]}
		}
		if len(list) == 0 {
			return fmt.Errorf("%s has an empty list", source)
		}
		for _, want := range list {
			switch want.(type) {
			case nil, bool, string, int, int64, uint64, float64:
			default:
				return fmt.Errorf("%s: %v is neither a text, a number, true, false nor null", source, want)
			}
		}
	}
	return nil
}

// Sources lists those of the conditions.
func (w Where) Sources() []string { return slices.Sorted(maps.Keys(w)) }

// Fill replaces {source} in a template by its text, {source|upper} by that in capitals,
// {source|percent} by a fraction in percent and {source|levels} by a part of the range of
// pixels in levels: 77/255.
func Fill(template string, text func(source string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		source, how, _ := strings.Cut(name, "|")
		v := text(source)
		switch how {
		case "upper":
			v = strings.ToUpper(v)
		case "percent":
			x, _ := strconv.ParseFloat(v, 64)
			v = fmt.Sprintf("%.4g %%", 100*x)
		case "levels":
			if x, err := strconv.ParseFloat(v, 64); err == nil {
				v = numbers.Eps("linf", x)
			}
		}
		b.WriteString(v)
		template = after
	}
}

// holes lists the sources in a template.
func holes(template string) ([]string, error) {
	var out []string
	for {
		_, rest, found := strings.Cut(template, "{")
		if !found {
			return out, nil
		}
		name, after, closed := strings.Cut(rest, "}")
		source, how, _ := strings.Cut(name, "|")
		if !closed || !slices.Contains([]string{"", "upper", "percent", "levels"}, how) {
			return nil, fmt.Errorf("%q: after { comes a source, perhaps with |upper, |percent or |levels, and }", template)
		}
		out, template = append(out, source), after
	}
}
