package study

import (
	"fmt"
	"maps"
	"strconv"

	"tercet/internal/rundir"
	"tercet/internal/text"
)

// interpolated is the training error above its floor below which a network is said to fit
// all that can be fitted.
const interpolated = 1e-3

// The reducer "peak" makes a row of a curve over sizes: where its score is largest, how far
// that stands above its sides, and from which size on training pairs are fitted.
func init() {
	reducers["peak"] = reducer{[]string{"widths", "peak", "rise", "fall", "widest", "interpolates", verdictField}, func(d *Document, curves [][]*Row) (rows []*Row, notes []string, err error) {
		var single []string
		for _, c := range curves {
			if len(c) < 2 {
				single = append(single, rundir.CommonName(c[0].Dirs()))
				continue
			}
			if row := peakRow(c, d.table.Reduce.Score); row != nil {
				rows = append(rows, row)
			}
		}
		if single != nil {
			notes = append(notes, "at one width only, so on no curve: "+text.Some(single))
		}
		return rows, notes, nil
	}}
}

// peakRow is nil where no seed has all sizes. Where the largest mean is at an end, the side
// of that end is measured from or to the largest between the ends.
func peakRow(curve []*Row, score string) *Row {
	own := scored(curve, score)
	if len(own) < 2 {
		return nil
	}
	seeds, values := grid(own, score)
	if len(seeds) == 0 {
		return nil
	}
	_, at, _, rise, fall := findPeak(values, largest)
	top, last := own[at], own[len(own)-1]
	row := from(curve[0])
	row.curve, row.N = curve, len(seeds)
	if up, down := between(values); rise == nil {
		rise = up
	} else if fall == nil {
		fall = down
	}
	maps.Copy(row.Fields, map[string]string{"widths": fmt.Sprint(len(own)), "peak": top.Fields["width"], "parameters": top.Fields["parameters"], "size": top.Fields["size"], verdictField: peakVerdict(rise, fall)})
	if row.Fields["peak"] == "" {
		row.Fields["peak"] = "0"
	}
	row.Fields["first"], row.Fields["last"] = strconv.FormatBool(at == 0), strconv.FormatBool(at == len(own)-1)
	row.Scores = map[string]Estimate{score: top.Scores[score], "widest": last.Scores[score]}
	for name, e := range map[string]*Estimate{"rise": rise, "fall": fall} {
		if e != nil {
			row.Scores[name] = *e
		}
	}
	for _, r := range curve {
		if e, ok := r.Scores["above_floor"]; ok && e.Value < interpolated {
			if row.Fields["interpolates"] = r.Fields["width"]; r.Fields["width"] == "" {
				row.Fields["interpolates"] = r.Fields["parameters"]
			}
			break
		}
	}
	return row
}
