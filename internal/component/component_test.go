package component

import (
	"math"
	"slices"
	"strings"
	"testing"
)

type color interface{ rgb() int }
type red struct{}
type blue struct{}

func (red) rgb() int  { return 0xff0000 }
func (blue) rgb() int { return 0xff }

func TestFamilyOrder(t *testing.T) {
	f := NewFamily[color]("z", "b")
	for _, name := range []string{"m", "b", "a", "z"} {
		f.Register(Component[color]{Name: name, Doc: name + "!", Defaults: red{}, Preset: map[string]any{"x": 1}})
	}
	if got := f.Names(); !slices.Equal(got, []string{"z", "b", "a", "m"}) {
		t.Errorf("order %v: named ones first, others by name", got)
	}
	c, ok := f.Lookup("a")
	if !ok || c.Doc != "a!" || c.Defaults.rgb() != 0xff0000 {
		t.Errorf("%+v, %v", c, ok)
	}
	if _, ok := f.Lookup("y"); ok {
		t.Error("there is no y")
	}
	if p := f.Plain()[3]; p.Name != "m" || p.Defaults != any(red{}) || p.Preset["x"] != 1 {
		t.Errorf("plain: %+v", p)
	}
	f.All()[0].Name = "changed"
	if f.Names()[0] != "z" {
		t.Error("All gives the family's own list away")
	}
	defer func() {
		if e := recover(); e == nil || !strings.Contains(e.(string), `"m"`) {
			t.Errorf("a second m: %v", e)
		}
	}()
	f.Register(Component[color]{Name: "m", Defaults: blue{}})
}

type inner struct {
	Deep float64 `yaml:"deep" check:">0"`
}

type options struct {
	Word   string     `yaml:"word" enum:"mean|sum"`
	Low    float64    `yaml:"low" check:">=0,<2"`
	Maybe  *float64   `yaml:"maybe" check:">0"`
	Count  int        `yaml:"count" check:">=1"`
	Betas  [2]float64 `yaml:"betas" check:"<1"`
	Ks     []int      `yaml:"ks" check:">=1"`
	Auto   Auto       `yaml:"auto" check:"<=1"`
	Every  Span       `yaml:"every" check:">0"`
	Inner  inner      `yaml:"inner"`
	Hidden float64    `yaml:"-" check:">0"`

	asked *bool
}

func (o options) Check() []Fault {
	*o.asked = true
	if o.Low > 1 {
		return []Fault{Faultf("low", "is above %d", 1)}
	}
	return nil
}

func TestCheck(t *testing.T) {
	minus := -1.0
	for name, c := range map[string]struct {
		change func(o *options)
		want   string // the faults, "key message" joined by "; "
	}{
		"nothing":    {func(*options) {}, ""},
		"word":       {func(o *options) { o.Word = "meen" }, `word unknown value "meen"; did you mean mean? valid: mean, sum`},
		"below":      {func(o *options) { o.Low = -1 }, "low must be >=0 and <2, is -1"},
		"at the end": {func(o *options) { o.Low = 2 }, "low must be >=0 and <2, is 2"},
		"NaN":        {func(o *options) { o.Low = math.NaN() }, "low must be >=0 and <2, is NaN"},
		"infinity":   {func(o *options) { o.Count, o.Inner.Deep = 1, math.Inf(1) }, "inner.deep must be finite and >0, is +Inf"},
		"pointer":    {func(o *options) { o.Maybe = &minus }, "maybe must be >0, is -1"},
		"count":      {func(o *options) { o.Count = 0 }, "count must be >=1, is 0"},
		"array":      {func(o *options) { o.Betas[1] = 1 }, "betas must be <1, is 1"},
		"empty list": {func(o *options) { o.Ks = nil }, "ks must have at least one value"},
		"auto":       {func(o *options) { o.Auto = Auto{true, 1.5} }, "auto must be <=1, is 1.5"},
		"not given":  {func(o *options) { o.Auto = Auto{false, 1.5} }, ""},
		"span":       {func(o *options) { o.Every.N = 0 }, "every must be >0, is 0"},
		"two":        {func(o *options) { o.Count, o.Low = 0, -1 }, "low must be >=0 and <2, is -1; count must be >=1, is 0"},
		"its own":    {func(o *options) { o.Low = 1.5 }, "low is above 1"},
	} {
		asked := false
		o := options{Word: "sum", Count: 1, Ks: []int{1}, Every: Span{1, "steps"}, Inner: inner{1}, asked: &asked}
		c.change(&o)
		var got []string
		for _, f := range Check(o) {
			got = append(got, f.Key+" "+f.Msg)
		}
		if g := strings.Join(got, "; "); g != c.want {
			t.Errorf("%s: %q, want %q", name, g, c.want)
		}
		if tags := c.want != "" && c.want != "low is above 1"; asked == tags {
			t.Errorf("%s: asked %v: options are asked where their tags hold", name, asked)
		}
		if err := Err("loss x", o); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), "loss x: "+got[0]) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestRules(t *testing.T) {
	if got := Rules(">=-1,<0.5"); !slices.Equal(got, []Rule{{">=", -1}, {"<", 0.5}}) || Rules("") != nil {
		t.Errorf("%v", got)
	}
	for _, bad := range []string{"1", ">x", ">1,"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("tag %q accepted", bad)
				}
			}()
			Rules(bad)
		}()
	}
}
