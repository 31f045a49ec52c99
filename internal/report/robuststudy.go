package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tercet/internal/record"
	"tercet/internal/verdict"
)

// NoiseStudy compares losses or defences under noise, schema tercet.noisestudy/1.
// Scores are fractions.
type NoiseStudy struct {
	Schema string      `json:"schema"`
	Scores []string    `json:"scores"` // keys
	Rows   []*NoiseRow `json:"rows"`
	// Contrasts set noise-robust losses against each other, seed by seed: joint weights
	// against the product, and noise that was found against the true one.
	Contrasts []NoiseContrast `json:"contrasts,omitempty"`
	Notes     []string        `json:"notes"`
	kind      *noiseComparison
}

// NoiseRow is one loss, or loss and defence, at one noise: means over seeds.
type NoiseRow struct {
	Data    string  `json:"data"`
	Setting string  `json:"setting,omitempty"` // other config keys in which runs differ
	Noise   string  `json:"noise"`             // kind
	Rate    float64 `json:"rate"`              // of what is disturbed: labels, pairs or triplets
	// Effective is the share of pairs, half of them similar, that such labels get wrong;
	// 0 where triplets are disturbed.
	Effective float64             `json:"effective,omitempty"`
	Name      string              `json:"name"`
	N         int                 `json:"n"`
	Dirs      []string            `json:"runs"`
	Seeds     []uint64            `json:"seeds"`
	Scores    map[string]Estimate `json:"scores"`
	// Against is what the row is compared with; Differences are row - that, seed by
	// seed, Verdicts those on the claim that the row is better, by their intervals.
	Against     string              `json:"against,omitempty"`
	Differences map[string]Estimate `json:"differences,omitempty"`
	Verdicts    map[string]string   `json:"verdicts,omitempty"`

	runs    []*RunDir
	values  []map[string]float64 // by run
	caution string               // what is to be said of the runs
}

// noiseComparison is a question that a NoiseStudy answers.
type noiseComparison struct {
	title    string
	scores   []string
	sections []string // of the config: they give rows their names
	against  string   // in words
	// baseline tells whether a row may be what another one is compared with.
	baseline func(of, row *NoiseRow) bool
	kinds    []resultKind // documents that are needed
}

// lowerIsBetter are scores that are errors.
var lowerIsBetter = []string{"triplet_error"}

// CompareRobust compares triplet losses under noise with the plain one, by triplet
// error, recall and NMI of eval.json.
func CompareRobust(runs []*RunDir) (*NoiseStudy, error) {
	return compareNoise(runs, &noiseComparison{
		title: "triplet losses under noise", scores: []string{"triplet_error", "recall@1", "nmi"}, sections: []string{"loss"},
		against: "the plain triplet loss at the same noise", kinds: kinds[:1],
		baseline: func(of, row *NoiseRow) bool {
			return row.Noise == of.Noise && row.Rate == of.Rate && row.runs[0].is("loss.name", "triplet") && !of.runs[0].is("loss.name", "triplet")
		},
	})
}

// CompareAttacked compares robustness under label noise with that without noise, by
// ERS of attack.json and recall of eval.json.
func CompareAttacked(runs []*RunDir) (*NoiseStudy, error) {
	return compareNoise(runs, &noiseComparison{
		title: "robustness under noise", scores: []string{"recall@1", "ERS"}, sections: []string{"loss", "defense"},
		against: "the same without noise", kinds: kinds[:2],
		baseline: func(of, row *NoiseRow) bool { return row.Noise == "none" && of.Noise != "none" && row.Name == of.Name },
	})
}

func (r *RunDir) is(key, value string) bool {
	v, _ := r.label(key)
	return v == value
}

// compareNoise makes the study. Runs that are not finished or lack a document are named
// in notes and do not count.
func compareNoise(runs []*RunDir, kind *noiseComparison) (*NoiseStudy, error) {
	s := &NoiseStudy{Schema: record.NoiseStudySchema, Scores: kind.scores, Rows: []*NoiseRow{}, Notes: []string{}, kind: kind}
	runs = s.usable(runs)
	names, settings := kind.names(runs), kind.settings(runs)
	at := map[string]*NoiseRow{}
	for i, r := range runs {
		d, err := r.disturbance()
		if err != nil {
			return nil, err
		}
		row := &NoiseRow{Data: r.Manifest.Data.Name, Setting: settings[i], Noise: "none", Name: names[i]}
		if n := d.Data.Noise; n != nil && n.Kind != "none" && n.Wanted > 0 {
			row.Noise, row.Rate, row.Effective = n.Kind, n.Wanted, n.Effective
		}
		id := fmt.Sprintf("%q %q %q %v %q", row.Data, row.Setting, row.Noise, row.Rate, row.Name)
		if at[id] == nil {
			at[id] = row
			s.Rows = append(s.Rows, row)
		}
		if err := at[id].add(r, kind.scores); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.Rows, func(a, b *NoiseRow) int {
		place := func(r *NoiseRow) int { return slices.Index(noiseOrder, r.Noise) }
		return cmp.Or(strings.Compare(a.Data, b.Data), strings.Compare(a.Setting, b.Setting), place(a)-place(b), cmp.Compare(a.Rate, b.Rate), strings.Compare(a.Name, b.Name))
	})
	for _, row := range s.Rows {
		why := unlikeScores(row.runs, kind.scores, (*RunDir).measured)
		for i := range row.values {
			for key := range why {
				delete(row.values[i], key)
			}
		}
		s.Notes = append(s.Notes, leftOut(row.title(), kind.scores, why)...)
		row.Scores = map[string]Estimate{}
		for _, key := range kind.scores {
			var v []float64
			for _, m := range row.values {
				if x, ok := m[key]; ok {
					v = append(v, x)
				}
			}
			if len(v) > 0 {
				row.Scores[key] = estimateOf(v)
			}
		}
	}
	s.compare()
	s.contrast()
	shown := onlyOf(runs, kind.kinds)
	s.Notes = append(s.Notes, cautions(shown, kind.scores, nil)...)
	if len(s.Rows) > 1 {
		s.Notes = append(s.Notes, unlikeNotes(shown, kind.scores, (*RunDir).measured)...)
	}
	unlike := unlikeRows(shown, kind.scores, (*RunDir).measured)
	for _, row := range s.Rows {
		row.caution = rowCautions(onlyOf(row.runs, kind.kinds), unlike)
	}
	s.Notes = append(s.Notes, differ(runs, "made by different versions", func(r *RunDir) string { return r.Manifest.Version })...)
	return s, nil
}

func (row *NoiseRow) add(r *RunDir, keys []string) error {
	if i := slices.Index(row.Seeds, r.Manifest.Seed); i >= 0 {
		return fmt.Errorf("%s and %s are both %s at noise %s %v with seed %d: name one of them", row.Dirs[i], r.Dir, row.Name, row.Noise, row.Rate, r.Manifest.Seed)
	}
	values := map[string]float64{}
	for _, sc := range r.scores() {
		if slices.Contains(keys, sc.Key) {
			values[sc.Key] = sc.Value.Value
		}
	}
	row.N++
	row.runs, row.values = append(row.runs, r), append(row.values, values)
	row.Dirs, row.Seeds = append(row.Dirs, r.Dir), append(row.Seeds, r.Manifest.Seed)
	return nil
}

// usable leaves out what has no scores, with notes.
func (s *NoiseStudy) usable(runs []*RunDir) []*RunDir {
	var out []*RunDir
	for _, r := range runs {
		if !r.finished() {
			alone := *r
			alone.Eval, alone.Attack, alone.Cluster = nil, nil, nil
			s.Notes = append(s.Notes, alone.unfinished()[0]+"; it does not count")
			continue
		}
		out = append(out, r)
	}
	for _, k := range s.kind.kinds {
		for _, r := range out {
			if r.leaves(k) {
				s.Notes = append(s.Notes, r.Left...)
			}
		}
		if note := k.missing(out); note != "" {
			s.Notes = append(s.Notes, note)
		}
		out = slices.DeleteFunc(out, func(r *RunDir) bool { return !k.has(r) })
	}
	return out
}

// names calls runs by the sections of the comparison, with the options in which runs of
// one name differ.
func (k *noiseComparison) names(runs []*RunDir) []string {
	short := make([]string, len(runs))
	for i, r := range runs {
		short[i] = k.short(r)
	}
	out := slices.Clone(short)
	for i, r := range runs {
		for _, l := range r.Labels {
			section, _, _ := strings.Cut(l.Key, ".")
			if !slices.Contains(k.sections, section) || strings.HasSuffix(l.Key, ".name") || slices.Contains([]string{"loss.form", "loss.weights", "loss.rho", "loss.beta", "loss.gamma", "loss.noise_from"}, l.Key) && r.is("loss.name", "triplet-robust") {
				continue
			}
			for j, other := range runs {
				if v, ok := other.label(l.Key); short[j] == short[i] && (!ok || v != l.Value) {
					out[i] += ", " + strings.TrimPrefix(l.Key, "loss.") + " " + l.Value
					break
				}
			}
		}
	}
	return out
}

// short is a run's loss, and its defence where the comparison is about those.
func (k *noiseComparison) short(r *RunDir) string {
	name, _ := r.label("loss.name")
	if name == "triplet-robust" {
		of := func(key string) string { v, _ := r.label("loss." + key); return v }
		name = "robust, " + of("form")
		switch rho, beta := of("rho"), of("beta"); {
		case rho != "" && rho != "null":
			name += ", rho " + rho
		case beta != "" && beta != "auto":
			name += fmt.Sprintf(", beta %s, gamma %s, %s", beta, of("gamma"), of("weights"))
		case strings.Trim(of("noise_from"), `"`) != "":
			name += ", " + of("weights") + ", found"
		default:
			name += ", " + of("weights")
		}
	}
	if d, _ := r.label("defense.name"); slices.Contains(k.sections, "defense") && d != "" && d != "none" {
		name += " + " + d
	}
	return name
}

// settings are, for each run, the config keys beside noise and names in which runs of
// its data set differ.
func (k *noiseComparison) settings(runs []*RunDir) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		var parts []string
		for _, l := range r.Labels {
			section, _, _ := strings.Cut(l.Key, ".")
			if l.Key == "name" || l.Key == "seed" || section == "noise" || slices.Contains(k.sections, section) {
				continue
			}
			for _, other := range runs {
				if v, ok := other.label(l.Key); other.Manifest.Data.Name == r.Manifest.Data.Name && (!ok || v != l.Value) {
					parts = append(parts, l.Key+" "+l.Value)
					break
				}
			}
		}
		out[i] = strings.Join(parts, ", ")
	}
	return out
}

// compare finds what each row is compared with: of several the one whose loss has the
// same margin and distance.
func (s *NoiseStudy) compare() {
	for _, row := range s.Rows {
		var base []*NoiseRow
		for _, other := range s.Rows {
			if other.Data == row.Data && other.Setting == row.Setting && s.kind.baseline(row, other) {
				base = append(base, other)
			}
		}
		for _, key := range []string{"loss.margin", "loss.distance", "loss.reducer"} {
			want, _ := row.runs[0].label(key)
			if same := slices.DeleteFunc(slices.Clone(base), func(r *NoiseRow) bool { return !r.runs[0].is(key, want) }); len(same) > 0 {
				base = same
			}
		}
		if len(base) > 1 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s at noise %s %v is compared with none: %s and %s would both do", row.Name, row.Noise, row.Rate, base[0].Name, base[1].Name))
		}
		if len(base) == 1 {
			row.against(base[0], s.Scores)
		}
	}
}

// against fills the differences to base.
func (row *NoiseRow) against(base *NoiseRow, keys []string) {
	row.Against = base.Name
	row.Differences, row.Verdicts = row.less(base, keys)
}

// less are the differences row - base of the seeds that both have, and what they say.
func (row *NoiseRow) less(base *NoiseRow, keys []string) (map[string]Estimate, map[string]string) {
	differences, verdicts := map[string]Estimate{}, map[string]string{}
	for _, key := range keys {
		var d []float64
		for i, seed := range row.Seeds {
			k := slices.Index(base.Seeds, seed)
			if k < 0 || measuredUnlike(row.runs[i], base.runs[k], key) {
				continue
			}
			x, ok := row.values[i][key]
			if y, too := base.values[k][key]; ok && too {
				d = append(d, x-y)
			}
		}
		if d == nil {
			continue
		}
		e := estimateOf(d)
		differences[key], verdicts[key] = e, better(e, slices.Contains(lowerIsBetter, key))
	}
	return differences, verdicts
}

// title names the row in notes.
func (row *NoiseRow) title() string {
	if row.Noise == "none" {
		return row.Name
	}
	return fmt.Sprintf("%s at noise %s %v", row.Name, row.Noise, row.Rate)
}

// measuredUnlike says that two runs' values of a score were not measured alike.
func measuredUnlike(a, b *RunDir, key string) bool {
	_, why := unlikeParts([][]Label{a.measured(key), b.measured(key)}, []string{a.Dir, b.Dir})
	return why != ""
}

// better is the verdict on a row that is better than another by a difference of scores.
func better(e Estimate, lower bool) string {
	if lower {
		return verdict.Below(0).Of(e.CI95)
	}
	return verdict.Above(0).Of(e.CI95)
}
