package labeled

import (
	"tercet/internal/component"
	"tercet/internal/engine/array"
	"tercet/internal/engine/kernel"
	"tercet/internal/engine/loss"
	"tercet/internal/par"
)

func init() {
	loss.Family.Register(component.Component[loss.Options]{Name: "smooth-ap", Doc: "average precision with a sigmoid for each step of a rank (Brown et al.)", Defaults: SmoothAPDefaults()})
}

// SmoothAPOptions are the keys of a SmoothAPLoss.
type SmoothAPOptions struct {
	Temperature float64 `yaml:"temperature" check:">0.0001,<=100" doc:"divides differences of cosines inside the sigmoid"`
	Variant     Variant `yaml:"variant" enum:"paper|published" doc:"published counts an image among its own positives, as the authors' code does"`
}

// SmoothAPDefaults returns temperature 0.01.
func SmoothAPDefaults() SmoothAPOptions { return SmoothAPOptions{Temperature: 0.01, Variant: Paper} }

// New implements Options.
func (o SmoothAPOptions) New() (loss.Objective, error) {
	return loss.Checked[loss.Objective]("smooth-ap", o, &SmoothAPLoss{o: o})
}

// Takes implements Options.
func (SmoothAPOptions) Takes() loss.Kind { return loss.Labels }

// SmoothAPLoss is 1 minus the mean, over rows q with positives P, of
//
//	1/|P| sum_{i in P} (1 + sum_{j in P, j != i} sigma_ji) / (1 + sum_{j != i} sigma_ji)
//
// with sigma_ji = 1/(1 + exp((s_qi - s_qj)/T)), s_qj the cosine of rows q and j (Brown et al.,
// "Smooth-AP: Smoothing the Path Towards Large-Scale Image Retrieval", ECCV 2020, eq. 8). Its
// memory beside the embeddings grows with B, not with B^2: cosines are those of queryBlock
// rows at a time. PyTorch implementations take B^3. It serves one goroutine at a time.
type SmoothAPLoss struct {
	o SmoothAPOptions

	units  loss.Units
	labels []int32
	rows   classMates
	from   int       // first row of the block
	cos    []float32 // (queryBlock, B)
	slope  []float32
	spare  par.Free[[]float64] // how much each row is ranked above a positive
	scale  float64
	terms  []rowTerm
}

// queryBlock is the number of rows whose cosines are in memory.
const queryBlock = 32

// Margin returns 0: the loss has none.
func (l *SmoothAPLoss) Margin() float64 { return 0 }

// among says whether the query itself is ranked.
func (l *SmoothAPLoss) among() bool { return l.o.Variant == Published }

// Eval implements Objective on t.Labels. The tuples are rows with positives. Positive and
// Negative of the result are means of 1 - s.
func (l *SmoothAPLoss) Eval(z *array.Array, t *loss.Tuples, grad *array.Array) (loss.Result, error) {
	n, err := checkLabeled(z, t.Labels, grad, 0)
	if n == 0 || err != nil {
		return loss.Result{}, err
	}
	l.labels = t.Labels
	l.rows.group(t.Labels)
	counted := 0
	for _, y := range t.Labels {
		if len(l.rows.of(y)) > 1 {
			counted++
		}
	}
	l.scale = 1 / float64(max(counted, 1))
	l.units.Load(z)
	clear(l.units.Turn)
	l.terms = loss.Grow(l.terms, n)
	l.cos, l.slope = loss.Grow(l.cos, queryBlock*n), loss.Grow(l.slope, queryBlock*n)
	for l.from = 0; l.from < n; l.from += queryBlock {
		l.block(min(queryBlock, n-l.from), grad != nil)
	}
	if grad != nil {
		l.units.Pull(grad)
	}
	res := addTerms(l.terms)
	res.Loss *= l.scale
	return res, nil
}

// block evaluates the next m queries, and adds their gradients: those of each query by the
// others' directions, and those of the others by the query's.
func (l *SmoothAPLoss) block(m int, gradient bool) {
	n, d := l.units.Rows, l.units.Dim
	own, hat := l.units.Hat[l.from*d:], l.units.Hat
	kernel.Gemm(false, true, m, n, d, 1, own, d, hat, d, 0, l.cos, n)
	par.Do(m, 1, l)
	if gradient {
		kernel.Gemm(false, false, m, d, n, 1, l.slope, n, hat, d, 1, l.units.Turn[l.from*d:], d)
		kernel.Gemm(true, false, n, d, m, 1, l.slope, n, own, d, 1, l.units.Turn, d)
	}
}

// Run does queries [lo, hi) of the block.
func (l *SmoothAPLoss) Run(lo, hi int) {
	n := len(l.labels)
	for k := lo; k < hi; k++ {
		q, cos, slope := l.from+k, l.cos[k*n:][:n], l.slope[k*n:][:n]
		loss.Within(cos)
		clear(slope)
		var t rowTerm
		if t.apartRow(cos, l.rows.of(l.labels[q]), q); t.positives > 0 {
			t.tuples, t.value = 1, l.query(q, cos, slope)
			if kernel.MaxAbs(slope) > 0 {
				t.active = 1
			}
			kernel.ScaleRow(float32(l.scale), slope)
		}
		l.terms[q] = t
	}
}

// query returns 1 - AP of row q, and writes its slopes, without the mean over rows.
func (l *SmoothAPLoss) query(q int, cos, slope []float32) float64 {
	mates := l.rows.of(l.labels[q])
	positives := len(mates) - 1
	if l.among() {
		positives++
	}
	spare := l.spare.Get()
	defer l.spare.Put(spare)
	*spare = loss.Grow(*spare, len(cos))
	precision := 0.0
	for _, i := range mates {
		if int(i) != q || l.among() {
			precision += l.rank(q, int(i), mates, cos, slope, *spare, 1/float64(positives))
		}
	}
	slope[q] = 0 // the cosine of a row with itself is 1
	return 1 - precision/float64(positives)
}

// rank returns the precision at positive i, and adds the slopes of minus the precision times
// share. above has room for sigma of each row.
func (l *SmoothAPLoss) rank(q, i int, mates []int32, cos, slope []float32, above []float64, share float64) float64 {
	for j, c := range cos {
		above[j] = loss.Logistic((float64(c) - float64(cos[i])) / l.o.Temperature)
	}
	if above[i] = 0; !l.among() {
		above[q] = 0
	}
	own, all := 1.0, 1.0
	for _, s := range above {
		all += s
	}
	for _, j := range mates {
		own += above[j]
	}
	share /= l.o.Temperature
	pull, other, mate := 0.0, share*own/(all*all), share/all
	for j, s := range above {
		g := float64(other * s * (1 - s)) // rounded before it is added
		slope[j] += float32(g)
		pull += g
	}
	for _, j := range mates {
		g := float64(mate * above[j] * (1 - above[j]))
		slope[j] -= float32(g)
		pull -= g
	}
	slope[i] -= float32(pull)
	return own / all
}
