package transform

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"tercet/internal/component"
	"tercet/internal/names"
)

// elsewhere are torchvision's steps that are no steps here, with where they are.
var elsewhere = map[string]string{
	"ToTensor":  "pixels become numbers from 0 to 1 by themselves; remove it",
	"Normalize": "mean and standard deviation are the first layer of a model; remove it",
	"Compose":   "write its steps as the items of the list",
}

// Parse reads steps, each as torchvision writes it: RandomResizedCrop(224, scale=(0.2, 1)).
// The error names the step by its place, from 1.
func Parse(texts []string) (Pipeline, error) {
	var p Pipeline
	for i, t := range texts {
		s, err := parseStep(t)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		p = append(p, s)
	}
	return p, nil
}

func parseStep(text string) (Step, error) {
	name, rest, called := strings.Cut(strings.TrimSpace(text), "(")
	name = strings.TrimSpace(name)
	args, closed := strings.CutSuffix(strings.TrimSpace(rest), ")")
	if called && !closed {
		return nil, fmt.Errorf("%q has no closing parenthesis; in a list in brackets, put quotes around a step with a comma", text)
	}
	c, ok := Family.Lookup(name)
	if !ok {
		if hint := elsewhere[name]; hint != "" {
			return nil, fmt.Errorf("%s is not a step: %s", name, hint)
		}
		return nil, fmt.Errorf("unknown step %q; %s", name, names.Unknown(name, Family.Names()))
	}
	v := reflect.New(reflect.TypeOf(c.Defaults)).Elem()
	v.Set(reflect.ValueOf(c.Defaults))
	list, err := split(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := assign(v, list); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := v.Interface().(Step)
	return s, component.Err(name, s)
}

// split cuts arguments at the commas outside of parentheses and brackets.
func split(args string) (out []string, err error) {
	depth, begin := 0, 0
	for i, r := range args {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(args[begin:i]))
				begin = i + 1
			}
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("parentheses of %q do not match", args)
	}
	if last := strings.TrimSpace(args[begin:]); last != "" {
		out = append(out, last)
	}
	return out, nil
}

// assign sets the fields of a step: arguments without a name in their order, then those
// with one.
func assign(v reflect.Value, args []string) error {
	var keys []string
	for i := range v.NumField() {
		keys = append(keys, v.Type().Field(i).Tag.Get("yaml"))
	}
	set := map[int]bool{}
	named := false
	for i, arg := range args {
		at := i
		value := arg
		if key, x, ok := strings.Cut(arg, "="); ok {
			key, value, named = strings.TrimSpace(key), strings.TrimSpace(x), true
			if at = index(keys, key); at < 0 {
				return fmt.Errorf("unknown argument %q; %s", key, names.Unknown(key, keys))
			}
		} else if named {
			return fmt.Errorf("argument %q without a name comes after one with a name", arg)
		}
		if at >= len(keys) {
			return fmt.Errorf("%d arguments; it has %d: %s", len(args), len(keys), strings.Join(keys, ", "))
		}
		if set[at] {
			return fmt.Errorf("argument %s is given twice", keys[at])
		}
		set[at] = true
		if err := setField(v.Field(at), value); err != nil {
			return fmt.Errorf("%s %w", keys[at], err)
		}
	}
	return nil
}

func index(keys []string, key string) int {
	for i, k := range keys {
		if k == key {
			return i
		}
	}
	return -1
}

// setField reads a number, a word, or numbers in parentheses or brackets.
func setField(v reflect.Value, text string) error {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Trim(text, `"'`))
		return nil
	case reflect.Slice, reflect.Array:
		parts := []string{text}
		if n := len(text); n > 1 && (text[0] == '(' && text[n-1] == ')' || text[0] == '[' && text[n-1] == ']') {
			var err error
			if parts, err = split(text[1 : n-1]); err != nil {
				return err
			}
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
		} else if len(parts) != v.Len() {
			return fmt.Errorf("must be %d numbers in parentheses, is %q", v.Len(), text)
		}
		for i, p := range parts {
			if err := setField(v.Index(i), p); err != nil {
				return err
			}
		}
		return nil
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("must be a whole number, is %q", text)
		}
		v.SetInt(int64(n))
		return nil
	}
	x, err := number(text)
	if err != nil {
		return fmt.Errorf("must be a number, is %q", text)
	}
	v.SetFloat(x)
	return nil
}

// number reads a number or a fraction such as 3/4.
func number(text string) (float64, error) {
	a, b, ok := strings.Cut(text, "/")
	x, err := strconv.ParseFloat(strings.TrimSpace(a), 64)
	if !ok || err != nil {
		return x, err
	}
	y, err := strconv.ParseFloat(strings.TrimSpace(b), 64)
	return x / y, err
}

// Name returns the name of a step.
func Name(s Step) string {
	for _, c := range Family.All() {
		if reflect.TypeOf(c.Defaults) == reflect.TypeOf(s) {
			return c.Name
		}
	}
	return ""
}

// Text writes a step with all its arguments. Parse reads it back.
func Text(s Step) string {
	v := reflect.ValueOf(s)
	var args []string
	for i := range v.NumField() {
		args = append(args, v.Type().Field(i).Tag.Get("yaml")+"="+written(v.Field(i)))
	}
	return Name(s) + "(" + strings.Join(args, ", ") + ")"
}

func written(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	if v.Len() == 1 {
		return written(v.Index(0))
	}
	var parts []string
	for i := range v.Len() {
		parts = append(parts, written(v.Index(i)))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// Signature writes a step with the arguments that it has and their defaults.
func Signature(s Step) string {
	v := reflect.ValueOf(s)
	var args []string
	for i := range v.NumField() {
		arg := v.Type().Field(i).Tag.Get("yaml")
		if f := v.Field(i); f.Kind() != reflect.Slice || f.Len() > 0 {
			arg += "=" + written(f)
		}
		args = append(args, arg)
	}
	return Name(s) + "(" + strings.Join(args, ", ") + ")"
}

// MarshalText writes String, so that pipelines can be compared in documents.
func (p Pipeline) MarshalText() ([]byte, error) { return []byte(p.String()), nil }
