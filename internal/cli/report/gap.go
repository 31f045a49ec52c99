package report

import (
	"tercet/internal/render"
	"tercet/internal/report"
	"tercet/internal/rundir"
)

// gapTable sets gaps of networks against the number of training images.
var gapTable = engineTable{"gap", func(runs []*rundir.Run, full bool) (any, *render.Table, func(string) ([]string, error), error) {
	s, err := report.CompareGaps(runs)
	if err != nil {
		return nil, nil, nil, err
	}
	return s, s.Table(full), s.DrawCurves, nil
}}

// networkTable sets how far one training image moves networks against the number of
// training images.
var networkTable = engineTable{"network-stability", func(runs []*rundir.Run, full bool) (any, *render.Table, func(string) ([]string, error), error) {
	s, err := report.CompareNetworkStability(runs)
	if err != nil {
		return nil, nil, nil, err
	}
	return s, s.Table(full), s.DrawCurves, nil
}}
