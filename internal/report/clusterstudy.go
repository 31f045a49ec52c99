package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/record"
	"tercet/internal/render"
	"tercet/internal/stat"
)

// ClusterStudy compares losses and ways of clustering at several rates of label
// noise, schema tercet.clusterstudy/1. Scores are fractions.
type ClusterStudy struct {
	Schema      string            `json:"schema"`
	Rows        []StudyRow        `json:"rows"`
	Differences []StudyDifference `json:"differences"`
	Notes       []string          `json:"notes"`
}

// StudyRow is one loss, clustered in one way, at one rate of noise: means over
// seeds.
type StudyRow struct {
	Data   string              `json:"data"`
	Method string              `json:"method"`
	Noise  float64             `json:"noise"`
	Loss   string              `json:"loss"`
	N      int                 `json:"n"`
	Dirs   []string            `json:"runs"`
	Seeds  []uint64            `json:"seeds"`
	Scores map[string]Estimate `json:"scores"` // of studyScores, clusters and threshold

	bySeed   map[uint64]map[string]float64
	runs     []*RunDir
	settings [][]Label
	leftOut  []string // notes on why it has no scores
}

// studyScores are what the study is about, in the order of its tables.
var studyScores = []string{"acc", "nmi", "ami", "ari"}

// Keys beside the scores.
const (
	studyClusters  = "clusters"
	studyThreshold = "threshold"
)

// CompareClusterings makes the study of runs whose clusterings have been read. Runs
// that collapsed or diverged have no scores; notes name them, and all that makes the
// comparison less than it seems.
func CompareClusterings(runs []*RunDir) (*ClusterStudy, error) {
	s := &ClusterStudy{Schema: record.ClusterStudySchema, Rows: []StudyRow{}, Differences: []StudyDifference{}, Notes: []string{}}
	runs = s.usable(runs)
	losses := lossNames(runs)
	at := map[string]int{}
	for i, r := range runs {
		for _, c := range r.Clusterings {
			row := StudyRow{Data: r.Manifest.Data.Name, Method: c.Method, Noise: r.noise(), Loss: losses[i]}
			id := fmt.Sprintf("%q %q %v %q", row.Data, row.Method, row.Noise, row.Loss)
			k, ok := at[id]
			if !ok {
				k, at[id] = len(s.Rows), len(s.Rows)
				row.bySeed = map[uint64]map[string]float64{}
				s.Rows = append(s.Rows, row)
			}
			if err := s.Rows[k].add(r, c); err != nil {
				return nil, err
			}
		}
	}
	datas := s.datas()
	slices.SortStableFunc(s.Rows, func(a, b StudyRow) int {
		return cmp.Or(slices.Index(datas, a.Data)-slices.Index(datas, b.Data), compareMethods(a.Method, b.Method),
			cmp.Compare(a.Noise, b.Noise), strings.Compare(a.Loss, b.Loss))
	})
	for i := range s.Rows {
		s.Rows[i].clear()
		s.Notes = append(s.Notes, s.Rows[i].leftOut...)
		s.Rows[i].estimate()
	}
	s.compare()
	s.remark(runs)
	return s, nil
}

// add takes a run's clustering into the row.
func (row *StudyRow) add(r *RunDir, c Clustering) error {
	seed := r.Manifest.Seed
	if _, twice := row.bySeed[seed]; twice {
		return fmt.Errorf("%s and another run are both %s of %s by %s at noise %v with seed %d: name one of them", r.Dir, row.Loss, row.Data, row.Method, row.Noise, seed)
	}
	values := map[string]float64{studyClusters: float64(c.Result.Clusters)}
	for _, sc := range c.Result.Clustering {
		if slices.Contains(studyScores, sc.Key) {
			values[sc.Key] = sc.Value.Value
		}
	}
	if c.Result.Threshold != nil {
		values[studyThreshold] = *c.Result.Threshold
	}
	row.N++
	row.bySeed[seed] = values
	alone := *r
	alone.Eval, alone.Attack, alone.Cluster = nil, nil, c.Result
	row.runs, row.settings = append(row.runs, &alone), append(row.settings, c.Result.setting())
	row.Dirs, row.Seeds = append(row.Dirs, r.Dir), append(row.Seeds, seed)
	return nil
}

// clear leaves a row of unlike clusterings without scores: no mean is over several
// numbers of clusters, or sets of images.
func (row *StudyRow) clear() {
	_, why := unlikeParts(row.settings, row.Dirs)
	if why == "" {
		return
	}
	for seed := range row.bySeed {
		row.bySeed[seed] = map[string]float64{}
	}
	row.leftOut = []string{fmt.Sprintf("%s, %s, %s at noise %v: no scores, since its clusterings are unlike: %s", row.Data, row.Method, row.Loss, row.Noise, why)}
}

func (row *StudyRow) estimate() {
	row.Scores = map[string]Estimate{}
	for _, key := range append(slices.Clone(studyScores), studyClusters, studyThreshold) {
		var values []float64
		for _, seed := range row.Seeds {
			if v, ok := row.bySeed[seed][key]; ok {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			row.Scores[key] = estimateOf(values)
		}
	}
}

// estimateOf is a mean with Student's interval, where there are two values.
func estimateOf(values []float64) Estimate {
	mean, low, high := stat.MeanInterval(values)
	e := Estimate{Value: &mean, N: len(values), cell: render.Number(mean)}
	if len(values) > 1 {
		e.CI95, e.cell = &[2]float64{low, high}, render.Interval(mean, low, high)
	}
	return e
}

// datas are the data sets in the order of their first runs.
func (s *ClusterStudy) datas() []string {
	var out []string
	for _, row := range s.Rows {
		if !slices.Contains(out, row.Data) {
			out = append(out, row.Data)
		}
	}
	return out
}

// usable leaves out what has no scores, with notes.
func (s *ClusterStudy) usable(runs []*RunDir) []*RunDir {
	var out []*RunDir
	var none []string
	for _, r := range runs {
		switch {
		case r.lost():
			alone := *r // its scores, if there are some, do not count
			alone.Eval, alone.Attack, alone.Cluster = nil, nil, nil
			s.Notes = append(s.Notes, alone.unfinished()...)
		case len(r.Clusterings) == 0:
			none = append(none, r.Dir)
		default:
			out = append(out, r)
		}
	}
	if none != nil {
		s.Notes = append(s.Notes, fmt.Sprintf("not clustered: %s; tercet cluster --run %s --method kmeans -k 10 --out %s does it",
			render.Listed(none), word(none[0]), word(none[0]+"/"+clusterFolder+"kmeans")))
	}
	return out
}

// noise is the rate at which training labels were flipped.
func (r *RunDir) noise() float64 {
	if kind, _ := r.label("noise.kind"); kind == "" || kind == "none" {
		return 0
	}
	text, _ := r.label("noise.rate")
	rate, err := strconv.ParseFloat(text, 64)
	if err == nil {
		return rate
	}
	// The config gives the noise otherwise; the manifest knows the rate.
	if d, err := r.disturbance(); err == nil && d.Data.Noise != nil {
		return d.Data.Noise.Wanted
	}
	return 0
}

// lossNames are L1, L2 and L3 of Ho et al. or other losses' own names; with their
// options where one name stands for two losses of a data set.
func lossNames(runs []*RunDir) []string {
	short := func(r *RunDir) string {
		name, _ := r.label("loss.name")
		distance, _ := r.label("loss.distance")
		form, _ := r.label("loss.form")
		switch {
		case name == "triplet" && distance == "squared" && form == "hinge":
			return "L1"
		case name == "triplet-capped":
			return "L2"
		case name == "triplet-threshold":
			return "L3"
		}
		return name
	}
	options := func(r *RunDir) string {
		var parts []string
		for _, l := range r.Labels {
			if key, ok := strings.CutPrefix(l.Key, "loss."); ok && key != "name" {
				parts = append(parts, key+" "+l.Value)
			}
		}
		return strings.Join(parts, ", ")
	}
	kinds := map[string]map[string]bool{}
	of := func(r *RunDir) string { return r.Manifest.Data.Name + "\n" + short(r) }
	for _, r := range runs {
		if kinds[of(r)] == nil {
			kinds[of(r)] = map[string]bool{}
		}
		kinds[of(r)][options(r)] = true
	}
	out := make([]string, len(runs))
	for i, r := range runs {
		if out[i] = short(r); len(kinds[of(r)]) > 1 {
			out[i] += " (" + options(r) + ")"
		}
	}
	return out
}

// remark says what makes the comparison less than it seems.
func (s *ClusterStudy) remark(runs []*RunDir) {
	for _, data := range s.datas() {
		var own []*RunDir
		for _, r := range runs {
			if r.Manifest.Data.Name == data {
				own = append(own, r)
			}
		}
		if keys := unequalKeys(own); keys != nil {
			s.Notes = append(s.Notes, fmt.Sprintf("%s: runs that are compared also differ in %s", data, render.Listed(keys)))
		}
		s.Notes = append(s.Notes, differ(eachClustering(own), data+": clustered images differ", func(r *RunDir) string {
			src := r.Clusterings[0].Result.Source
			return fmt.Sprintf("%d of set %s", src.Items, src.Set)
		})...)
		s.Notes = append(s.Notes, differ(own, data+": made by different versions", func(r *RunDir) string { return r.Manifest.Version })...)
		s.Notes = append(s.Notes, parts(own)...)
		s.Notes = append(s.Notes, s.gaps(own)...)
	}
	s.Notes = append(s.Notes, passedOver(runs)...)
	s.Notes = append(s.Notes, selected(runs)...)
	s.Notes = append(s.Notes, s.unlikeRows()...)
	for _, r := range runs {
		alone := *r
		alone.Eval, alone.Attack, alone.Cluster = nil, nil, r.Clusterings[0].Result
		s.Notes = append(s.Notes, alone.unfinished()...)
		s.Notes = append(s.Notes, alone.changedKernels()...)
		for _, c := range r.Clusterings {
			if now, ok := r.outdated(c.Result.Source); ok {
				s.Notes = append(s.Notes, fmt.Sprintf("%s is of step %d, %s", c.File, c.Result.Source.Step, r.nowAt(c.Result.Source, now)))
			}
		}
	}
}

// unequalKeys are the config keys, other than those that a study varies, in which
// runs differ.
func unequalKeys(runs []*RunDir) []string {
	var out []string
	for _, r := range runs {
		for _, l := range r.Labels {
			section, _, _ := strings.Cut(l.Key, ".")
			if l.Key == "name" || l.Key == "seed" || section == "loss" || section == "noise" || slices.Contains(out, l.Key) {
				continue
			}
			for _, other := range runs {
				if v, ok := other.label(l.Key); !ok || v != l.Value {
					out = append(out, l.Key)
					break
				}
			}
		}
	}
	return out
}

// gaps names runs that lack a clustering that others of their loss have.
func (s *ClusterStudy) gaps(runs []*RunDir) []string {
	losses := lossNames(runs)
	want := map[string][]string{}
	for i, r := range runs {
		for _, c := range r.Clusterings {
			if !slices.Contains(want[losses[i]], c.Method) {
				want[losses[i]] = append(want[losses[i]], c.Method)
			}
		}
	}
	var out []string
	for i, r := range runs {
		for _, m := range want[losses[i]] {
			if r.clustering(m) == nil {
				out = append(out, fmt.Sprintf("%s has no %s%s and does not count for it", r.Dir, clusterFolder, m))
			}
		}
	}
	return out
}
