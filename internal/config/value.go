package config

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"tercet/internal/component"
)

// value reads n into the leaf v.
func (d *decoder) value(v reflect.Value, f field, n *node, key string) {
	switch {
	case v.Type() == axesType:
		d.axes(v, n, key)
		return
	case v.Type() == spanType:
		if d.scalar(n, key, "a length such as 10 "+units(f)[0]) {
			s, err := parseSpan(n, units(f))
			if err != nil {
				d.fail(n.at, key, "%v", err)
				return
			}
			v.Set(reflect.ValueOf(s))
		}
		return
	}
	if v.Type() == autoType {
		d.auto(v, n, key)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if n.null {
			v.SetZero()
			return
		}
		p := reflect.New(v.Type().Elem())
		d.value(p.Elem(), f, n, key)
		v.Set(p)
	case reflect.Slice, reflect.Array:
		d.list(v, f, n, key)
	default:
		d.single(v, n, key)
	}
}

func (d *decoder) auto(v reflect.Value, n *node, key string) {
	if !d.scalar(n, key, "auto or a number") {
		return
	}
	if n.text == "auto" {
		v.Set(reflect.ValueOf(component.Auto{}))
		return
	}
	x, err := parseNumber(n)
	if err != nil {
		d.fail(n.at, key, "must be auto or a number such as 0.9, got %s", n.what())
		return
	}
	v.Set(reflect.ValueOf(component.Auto{Given: true, N: x}))
}

func (d *decoder) list(v reflect.Value, f field, n *node, key string) {
	if n.kind != sequence {
		d.fail(n.at, key, "must be a list such as [1, 2], got %s", n.what())
		return
	}
	if v.Kind() == reflect.Array && len(n.items) != v.Len() {
		d.fail(n.at, key, "must have %d values, got %d", v.Len(), len(n.items))
		return
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	}
	for i, item := range n.items {
		d.single(v.Index(i), item, key+"["+strconv.Itoa(i)+"]")
	}
}

func (d *decoder) single(v reflect.Value, n *node, key string) {
	switch v.Kind() {
	case reflect.String:
		if d.scalar(n, key, "a text") {
			v.SetString(n.text)
		}
	case reflect.Bool:
		if !d.scalar(n, key, "true or false") {
			return
		}
		switch {
		case n.plain && n.text == "true":
			v.SetBool(true)
		case n.plain && n.text == "false":
			v.SetBool(false)
		default:
			d.fail(n.at, key, "must be true or false, got %s", n.what())
		}
	case reflect.Int:
		if d.scalar(n, key, "a whole number") {
			x, err := parseInt(n)
			if err != nil {
				d.fail(n.at, key, "%v", err)
				return
			}
			v.SetInt(x)
		}
	case reflect.Uint64:
		if d.scalar(n, key, "a whole number from 0 to 2^64-1") {
			x, err := strconv.ParseUint(n.text, 10, 64)
			if err != nil || !n.plain {
				d.fail(n.at, key, "must be a whole number from 0 to 2^64-1, got %s", n.what())
				return
			}
			v.SetUint(x)
		}
	case reflect.Float64:
		if d.scalar(n, key, "a number") {
			x, err := parseNumber(n)
			if err != nil {
				d.fail(n.at, key, "%v", err)
				return
			}
			v.SetFloat(x)
		}
	default:
		panic("config: field " + key + " has a type that configs do not hold: " + v.Type().String())
	}
}

// scalar reports whether n is one value, and what belongs there if it is not.
func (d *decoder) scalar(n *node, key, want string) bool {
	if n.kind == scalar && !n.null {
		return true
	}
	if n.null {
		d.fail(n.at, key, "has no value; write %s, or remove the line for the default", want)
	} else {
		d.fail(n.at, key, "must be %s, got %s", want, n.what())
	}
	return false
}

// parseInt reads a whole number; 1e4 is one.
func parseInt(n *node) (int64, error) {
	if n.plain {
		if x, err := strconv.ParseInt(n.text, 10, 64); err == nil {
			return x, nil
		}
		if x, err := parseFloat(n.text); err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			return int64(x), nil
		}
	}
	return 0, fmt.Errorf("must be a whole number, got %s", n.what())
}

// parseNumber reads a finite number or a fraction such as 77/255.
func parseNumber(n *node) (float64, error) {
	x, err := 0.0, error(nil)
	if a, b, ok := strings.Cut(n.text, "/"); ok {
		num, err1 := parseFloat(strings.TrimSpace(a))
		den, err2 := parseFloat(strings.TrimSpace(b))
		x = num / den
		if err = err1; err == nil {
			err = err2
		}
	} else {
		x, err = parseFloat(n.text)
	}
	if err != nil || !n.plain || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("must be a finite number such as 0.2, 1e-3 or 77/255, got %s", n.what())
	}
	return x + 0, nil
}

// parseFloat is strconv.ParseFloat for decimal numbers only: no hexadecimal, no
// underscores, no words.
func parseFloat(s string) (float64, error) {
	if strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

func units(f field) []string { return strings.Split(f.tag.Get("units"), ",") }

func parseSpan(n *node, units []string) (component.Span, error) {
	bad := fmt.Errorf("must be a length such as \"10 %s\", got %s", strings.Join(units, "\" or \"10 "), n.what())
	words := strings.Fields(n.text)
	if len(words) == 0 || len(words) > 2 || !n.plain {
		return component.Span{}, bad
	}
	x, err := parseNumber(&node{text: words[0], plain: true})
	if err != nil {
		return component.Span{}, bad
	}
	if len(words) == 1 {
		return component.Span{N: x, Unit: units[0]}, nil
	}
	for _, u := range units {
		if words[1] == u || words[1] == strings.TrimSuffix(u, "s") {
			return component.Span{N: x, Unit: u}, nil
		}
	}
	return component.Span{}, bad
}

func (d *decoder) axes(v reflect.Value, n *node, key string) {
	if n.null {
		v.Set(reflect.ValueOf(Axes(nil)))
		return
	}
	if n.kind != mapping {
		d.fail(n.at, key, "must have keys with lists of values, such as {seed: [0, 1, 2]}, got %s", n.what())
		return
	}
	var axes Axes
	for _, e := range n.keys {
		a := Axis{Key: e.key, at: e.at}
		switch {
		case e.val.kind != sequence || len(e.val.items) == 0:
			d.fail(e.at, key+"."+e.key, "must be a list of values, such as [0, 1, 2], got %s", e.val.what())
			continue
		}
		for _, item := range e.val.items {
			a.Values = append(a.Values, item.flow())
		}
		axes = append(axes, a)
	}
	v.Set(reflect.ValueOf(axes))
}
