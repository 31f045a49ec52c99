package kernel

import "tercet/internal/par"

// shared computes a convolution of many channels, some thousand tiles at a time.
func (j *winogradJob) shared() {
	positions := j.kind.positions()
	span := max(j.tiles, winogradShared/(positions*j.runs*j.run)/j.tiles*j.tiles)
	for j.first = 0; j.first < j.grid.count; j.first += span {
		j.last = min(j.first+span, j.grid.count)
		count := j.last - j.first
		j.vpos = oddLines(count * j.run)
		grow(&j.v, j.runs*positions*j.vpos)
		par.Do(count, max(1, ceilDiv(count, manyTasks())), (*winogradInputJob)(j))
		par.Do(ceilDiv(count, j.tiles)*j.panels, 1, (*winogradPanelJob)(j))
	}
}

// winogradInputJob makes a shared V.
type winogradInputJob winogradJob

// Run does tiles [lo, hi) of those in V.
func (v *winogradInputJob) Run(lo, hi int) {
	j := (*winogradJob)(v)
	s := winogradScratches.Get()
	j.transformInput(j.v, j.vpos, j.first, j.first+lo, j.first+hi, s)
	winogradScratches.Put(s)
}

// winogradPanelJob multiplies a shared V, each task a block of tiles by a panel.
type winogradPanelJob winogradJob

// Run does tasks [lo, hi).
func (p *winogradPanelJob) Run(lo, hi int) {
	j := (*winogradJob)(p)
	s := winogradScratches.Get()
	positions := j.kind.positions()
	grow(&s.u, positions*j.upos)
	for t := lo; t < hi; t++ {
		panel, from := t%j.panels, t/j.panels*j.tiles
		rows := min(j.tiles, j.last-j.first-from)
		mpos, beta := 0, float32(0)
		for r := range j.runs {
			c := r * j.run
			k := min(j.run, j.g.C-c)
			j.transformWeights(s.u, panel, c, c+k, s)
			v := j.v[r*positions*j.vpos+from*j.run:]
			mpos = j.multiply(s, rows, panel, k, v, j.vpos, s.u, beta)
			beta = 1
		}
		j.finish(s, mpos, panel, j.first+from, j.first+from+rows)
	}
	winogradScratches.Put(s)
}
