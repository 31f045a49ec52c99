package kernel

import (
	"math"

	"tercet/internal/par"
)

// Attention is multi-head self-attention of images of Tokens vectors: rows of qkv
// (Tokens, 3*Heads*Dim) hold the queries of all heads, then their keys, then their
// values.
type Attention struct {
	Tokens, Heads, Dim int
}

type attentionJob struct {
	Attention
	level                    Level
	qkv, p, out, dqkv, dp, d []float32
	backward                 bool
}

var attentionJobs par.Free[attentionJob]

// Forward sets p (n, Heads, Tokens, Tokens) to softmax(q k^T / sqrt(Dim)) of each head,
// by rows, and out (n, Tokens, Heads*Dim) to p v.
func (a Attention) Forward(n int, qkv, p, out []float32) {
	a.run(n, attentionJob{qkv: qkv, p: p, out: out})
}

// Backward sets dqkv from d, the gradient of out, and the p of Forward. dp, of the size
// of p, is scratch.
func (a Attention) Backward(n int, qkv, p, d, dp, dqkv []float32) {
	a.run(n, attentionJob{qkv: qkv, p: p, d: d, dp: dp, dqkv: dqkv, backward: true})
}

func (a Attention) run(n int, j attentionJob) {
	j.Attention, j.level = a, Current()
	par.Once(&attentionJobs, n*a.Heads, 1, j)
}

// Run does heads [lo, hi), counted over all images.
func (j *attentionJob) Run(lo, hi int) {
	for h := lo; h < hi; h++ {
		image, head := h/j.Heads, h%j.Heads
		p := j.p[h*j.Tokens*j.Tokens:][:j.Tokens*j.Tokens]
		if j.backward {
			j.back(image, head, p, j.dp[h*j.Tokens*j.Tokens:][:j.Tokens*j.Tokens])
		} else {
			j.forward(image, head, p)
		}
	}
}

// parts returns queries, keys and values of a head in an array like qkv, and the
// distance of their rows.
func (j *attentionJob) parts(qkv []float32, image, head int) (q, k, v []float32, row int) {
	width := j.Heads * j.Dim
	row = 3 * width
	of := qkv[image*j.Tokens*row:][:j.Tokens*row]
	return of[head*j.Dim:], of[width+head*j.Dim:], of[2*width+head*j.Dim:], row
}

func (j *attentionJob) forward(image, head int, p []float32) {
	q, k, v, row := j.parts(j.qkv, image, head)
	t := j.Tokens
	Gemm(false, true, t, t, j.Dim, float32(1/math.Sqrt(float64(j.Dim))), q, row, k, row, 0, p, t)
	for r := range t {
		j.level.softmax(p[r*t : (r+1)*t])
	}
	width := j.Heads * j.Dim
	Gemm(false, false, t, j.Dim, t, 1, p, t, v, row, 0, j.out[image*t*width+head*j.Dim:], width)
}

// softmax replaces x by exp(x) over its sum; the largest number is taken off first.
func (l Level) softmax(x []float32) {
	l.expLess(l.greatest(x), x)
	l.scale(float32(1/l.sum(x)), x)
}

func (j *attentionJob) back(image, head int, p, dp []float32) {
	q, k, v, row := j.parts(j.qkv, image, head)
	dq, dk, dv, _ := j.parts(j.dqkv, image, head)
	t, width := j.Tokens, j.Heads*j.Dim
	d := j.d[image*t*width+head*j.Dim:]
	Gemm(true, false, t, j.Dim, t, 1, p, t, d, width, 0, dv, row)
	Gemm(false, true, t, t, j.Dim, 1, d, width, v, row, 0, dp, t)
	for r := range t {
		pr, dr := p[r*t:(r+1)*t], dp[r*t:(r+1)*t]
		j.level.softmaxBack(float32(j.level.dot(pr, dr)), pr, dr)
	}
	scale := float32(1 / math.Sqrt(float64(j.Dim)))
	Gemm(false, false, t, j.Dim, t, scale, dp, t, k, row, 0, dq, row)
	Gemm(true, false, t, j.Dim, t, scale, dp, t, q, row, 0, dk, row)
}
