package attack

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tercet/internal/attack"
	"tercet/internal/cli/base"
	"tercet/internal/names"
	"tercet/internal/record"
	"tercet/internal/robustness"
	"tercet/internal/run"
)

// names spells the attacks as tables do and refuses unknown ones.
func (o *options) names() error {
	var err error
	if o.suite != "" {
		if o.ask.Attacks, err = attack.Suite(strings.ToLower(o.suite)); err != nil {
			return base.Usagef("--suite is %q; give ers, worst or plus", o.suite)
		}
	}
	for _, flag := range []string{"gallery", "k", "move-gallery", "battery", "verify", "transfer"} {
		if o.changed(flag) {
			return base.Usagef("--%s is for --suite worst and plus", flag)
		}
	}
	if o.ask.Attacks, err = listNames("--attack", o.ask.Attacks); err != nil {
		return err
	}
	if o.ask.PictureAttacks, err = listNames("--example-attacks", o.ask.PictureAttacks); err != nil {
		return err
	}
	if o.changed("example-attacks") && len(o.ask.PictureAttacks) == 0 || o.ask.Attacks == nil {
		return base.Usagef("no attack given; valid: %s", strings.Join(attack.Attacks(), ", "))
	}
	for _, n := range o.ask.PictureAttacks {
		if !slices.Contains(o.ask.Attacks, n) {
			return base.Usagef("--example-attacks names %s, which is not among the attacks: %s", n, strings.Join(o.ask.Attacks, ", "))
		}
	}
	return nil
}

// listNames looks up names whatever their case, and puts them in the order of
// tables.
func listNames(flag string, list []string) ([]string, error) {
	known := attack.Attacks()
	var out []string
	for _, n := range list {
		n = strings.TrimSpace(n)
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, n) })
		if i < 0 {
			hint := ""
			if c := names.Closest(n, known); c != "" {
				hint = "did you mean " + c + "? "
			}
			return nil, base.Usagef("%s: unknown attack %q; %svalid: %s", flag, n, hint, strings.Join(known, ", "))
		}
		if slices.Contains(out, known[i]) {
			return nil, base.Usagef("%s names %s twice", flag, known[i])
		}
		out = append(out, known[i])
	}
	slices.SortFunc(out, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
	return out, nil
}

// variants lists those asked for, in the order of tables; nil is an error.
func (o *options) variants() []string {
	var out []string
	for _, v := range attack.Variants() {
		if o.variant == "both" || o.variant == string(v) {
			out = append(out, string(v))
		}
	}
	return out
}

// settings completes what is asked for: by the profile, whose other values are the
// flags' defaults, and by the flags that are not numbers.
func (o *options) settings(r *run.Run) (record.AttackOptions, error) {
	a, profile := o.ask, record.AttackOptions{}
	if o.changed("variant") { // else those that the data have
		a.Variants = o.variants()
	}
	shape := r.Manifest.Data.Train.Shape
	if err := robustness.Profile(&profile, o.profile, shape[0]); err != nil {
		return a, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	a.Eps, a.Step = profile.Eps, profile.Step
	if a.Batch == 0 {
		a.Batch = profile.Batch
	}
	if a.Norm != profile.Norm && (o.eps == "" && o.curve == "" || o.step == "") {
		return a, base.Usagef("--norm %s needs --eps and --step: the profile's are for the %s ball", a.Norm, profile.Norm)
	}
	var err error
	if o.eps != "" {
		if a.Eps, err = base.Fraction("--eps", o.eps); err != nil {
			return a, err
		}
	}
	if o.step != "" {
		if a.Step, err = base.Fraction("--step", o.step); err != nil {
			return a, err
		}
		if a.Step == 0 {
			return a, base.Usagef("--step is %s; give a length above 0, such as 3/255", o.step)
		}
	}
	if o.points != nil {
		a.Eps = o.points[len(o.points)-1]
	}
	if a.Iterations == 1 && o.step == "" && a.Eps > 0 {
		a.Step = a.Eps // FGSM, as published
	}
	if o.save != "" {
		a.Pictures, a.PictureAttacks = int(^uint(0)>>1), a.Attacks // all queries
	}
	if err := ballFits(a.Norm, a.Eps, shape); err != nil {
		return a, err
	}
	items := r.Manifest.Data.Test.Items
	switch v := r.Manifest.Data.Validation; {
	case o.Set == "train":
		items = r.Manifest.Data.Train.Items
	case o.Set == "validation" && v != nil:
		items = v.Items
	}
	if err := o.atMost(items); err != nil {
		return a, err
	}
	if err := o.weights(); err != nil {
		return a, err
	}
	if err := robustness.ValidateAttack(a); err != nil {
		return a, &base.ExitError{Code: base.ExitUsage, Err: err}
	}
	return a, nil
}

// ballFits refuses a radius that holds every image there is.
func ballFits(norm string, eps float64, shape [3]int) error {
	largest := 1.0
	if norm == "l2" {
		largest = math.Sqrt(float64(shape[0] * shape[1] * shape[2]))
	}
	if eps <= largest {
		return nil
	}
	hint := ""
	if norm == "linf" && eps <= 255 && eps == math.Trunc(eps) { // meant as levels
		hint = fmt.Sprintf("; for %g of 255 levels write %g/255", eps, eps)
	}
	return base.Usagef("eps is %.6g: pixels are in [0, 1], so no image is further than %.6g away in the %s norm%s", eps, largest, norm, hint)
}

// weights refuses weights of SPQA that are no positive numbers.
func (o *options) weights() error {
	for _, f := range []struct {
		flag  string
		value float64
	}{{"spqa-weight", o.ask.XiWeight}, {"spqa-weight-scale", o.ask.XiScale}} {
		if !(f.value >= 0) || math.IsInf(f.value, 0) {
			return base.Usagef("--%s is %v; give a finite number, 0 or more", f.flag, f.value)
		}
	}
	return nil
}
