package rundir

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tercet/internal/record"
)

// ImagesPart names what a score was measured on in the parts of a setting.
const ImagesPart = "images"

// Measured are the parts of what a score of a run depends on beside its weights, such as
// the distance; runs that differ in one are never averaged. nil where the run lacks it.
func (r *Run) Measured(key string) []Label {
	for _, k := range allKinds {
		if k.from(r) == nil {
			continue
		}
		if v, ok := k.scores(r).Get(key); ok {
			return append(k.setting(r, key), Label{"definition", v.Definition})
		}
	}
	return nil
}

// imagesOf says on which a result was measured.
func imagesOf(s record.Source) Label {
	value := strconv.Itoa(s.Items)
	if print := shortPrint(s.Fingerprint); print != "" {
		value += " with fingerprint " + print
	}
	return Label{ImagesPart, value}
}

// shortPrint is the beginning of a fingerprint, enough to tell sets apart.
func shortPrint(fingerprint string) string {
	print := strings.TrimPrefix(fingerprint, "sha256:")
	return print[:min(len(print), 12)]
}

// clustersWord says how many clusters k-means was given, 0 standing for the classes.
func clustersWord(k int, of record.Source) string {
	if k == 0 || k == of.Classes {
		return "that of classes"
	}
	return strconv.Itoa(k)
}

// EvalSetting is what a score of eval.json depends on.
func EvalSetting(e *record.Eval, key string) []Label {
	out := []Label{imagesOf(e.Source)}
	o := e.Options
	if rest, ok := strings.CutPrefix(key, "pairs."); ok {
		if strings.HasPrefix(rest, "fnmr@") || strings.HasPrefix(rest, "tar@") {
			return append(out, Label{"intervals", "over " + pairIntervals(o)})
		}
		from := ""
		if c := e.PairCounts; c != nil && c.At != nil && rest != "auc" && rest != "eer" {
			if from = c.At.From; from == "option" {
				from = fmt.Sprint(c.At.Threshold)
			}
		}
		return append(out, Label{"threshold", from})
	}
	if _, ok := record.Scores(e.Clustering).Get(key); ok {
		return append(out, Label{"number of clusters", clustersWord(o.K, e.Source)}, Label{"starts of k-means", strconv.Itoa(o.NInit)})
	}
	distance := cmp.Or(o.Distance, "euclidean")
	return append(out, Label{"distance", distance}, Label{"intervals", "over " + o.IntervalsOver()})
}

// pairIntervals is what the intervals of scores of pairs are over.
func pairIntervals(o record.EvalOptions) string {
	return cmp.Or(o.Intervals, "pairs")
}

// attackSetting is what a score of attack.json depends on.
func attackSetting(a *record.Attack) []Label {
	return []Label{imagesOf(a.Source), {"attack", Budget(a)}}
}

// noScore are options of a clustering on which no score depends: what is drawn, how long
// is searched for a bound, and the seed, over which means are.
var noScore = []string{"seed", "maps", "multicut.bound", "multicut.no_comparison", "multicut.matrix_limit_bytes", "agglomerative.memory_limit_bytes"}

// clusterSetting is what a score of cluster.json depends on.
func clusterSetting(c *record.Cluster) []Label {
	out := []Label{imagesOf(c.Source), {"method", c.Options.Method}}
	var walk func(before string, tree map[string]any)
	walk = func(before string, tree map[string]any) {
		for _, k := range sortedKeys(tree) {
			key := before + k
			section, deeper := tree[k].(map[string]any)
			switch {
			case slices.Contains(noScore, key), key == "method", key == "n_init" && c.Options.Method != "kmeans":
			case deeper:
				walk(key+".", section)
			case key == "k":
				n, _ := tree[k].(float64)
				out = append(out, Label{"number of clusters", clustersWord(int(n), c.Source)})
			default:
				out = append(out, Label{key, fmt.Sprint(tree[k])})
			}
		}
	}
	walk("", tree(c.Options))
	return out
}

// tree is the options as their JSON has them: which there are depends on the method.
func tree(o record.ClusterOptions) map[string]any {
	var out map[string]any
	b, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		panic(err) // it was read from JSON
	}
	return out
}

func sortedKeys(m map[string]any) []string {
	out := slices.Sorted(maps.Keys(m))
	return out
}
