package study

import (
	"slices"

	"tercet/internal/lists"
	"tercet/internal/stat"
	"tercet/internal/study/observe"
)

// rankOf is the correlation of two scores over the rows of an item, of each seed that all
// rows have. A seed in which one score is the same in all rows has none; where no seed has
// one, the quantity has no value.
func rankOf(correlation func(x, y []float64) (float64, bool)) estimator {
	return func(i *item, q *ClaimQuantity) []measured {
		if len(scored(i.a, q.Score)) < len(i.a) || len(scored(i.a, q.Against)) < len(i.a) {
			return nil
		}
		var values []float64
		for _, seed := range i.row().Seeds {
			var x, y []float64
			for _, row := range i.a {
				if k := slices.Index(row.Seeds, seed); k >= 0 {
					v, has := row.obs[k].Values[q.Score]
					if w, too := row.obs[k].Values[q.Against]; has && too {
						x, y = append(x, v), append(y, w)
					}
				}
			}
			if len(x) < len(i.a) {
				continue
			}
			if v, ok := correlation(x, y); ok {
				values = append(values, v)
			}
		}
		if values == nil {
			return []measured{{}}
		}
		return []measured{{estimate: EstimateOf(values)}}
	}
}

var (
	kendall  = rankOf(stat.Kendall)
	spearman = rankOf(stat.Spearman)
)

// tables groups the rows that fit a claim by what they share.
func (d *Document) tables(c *Claim) []*item {
	fit := lists.Filter(d.all, func(row *Row) bool { return c.Where.Fits(row.text) })
	groups, order := observe.GroupBy(fit, func(row *Row) (id string) {
		for _, s := range c.Same {
			id += row.text(s) + "\x00"
		}
		return id
	})
	var out []*item
	for _, id := range order {
		if len(groups[id]) >= max(c.Least, 3) {
			out = append(out, &item{d: d, a: groups[id]})
		}
	}
	return out
}
