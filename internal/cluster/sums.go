package cluster

import "tercet/internal/par"

const sumChunk = 32 // columns summed at a time

// clusterSums holds the sum of each cluster's rows in float64. After the first
// time only rows that changed their cluster are subtracted and added; when more
// than a quarter did, all are summed anew. Rows are taken in order, columns are
// split over threads.
type clusterSums struct {
	data   *centred
	sum    []float64 // (k, d)
	within []int32   // the cluster whose sum each row is in
	labels []int32
	rows   []int32 // those to move
	anew   bool
}

func (s *clusterSums) init(data *centred, k int) {
	s.data, s.sum, s.within = data, make([]float64, k*data.d), make([]int32, data.n)
	s.rows = make([]int32, 0, data.n)
	s.reset()
}

func (s *clusterSums) reset() {
	for i := range s.within {
		s.within[i] = -1
	}
}

// follow makes sum that of the given labels.
func (s *clusterSums) follow(labels []int32) {
	s.labels, s.rows = labels, s.rows[:0]
	for i, c := range labels {
		if c != s.within[i] {
			s.rows = append(s.rows, int32(i))
		}
	}
	s.anew = len(s.rows) > len(labels)/4
	par.Do(s.data.d, sumChunk, s)
	copy(s.within, labels)
}

// Run brings columns [lo, hi) up to date.
func (s *clusterSums) Run(lo, hi int) {
	d := s.data.d
	if s.anew {
		for c := 0; c < len(s.sum); c += d {
			clear(s.sum[c+lo : c+hi])
		}
		for i, c := range s.labels {
			add(s.sum[int(c)*d+lo:int(c)*d+hi], s.data.x[i*d+lo:i*d+hi])
		}
		return
	}
	for _, i := range s.rows {
		x := s.data.x[int(i)*d+lo : int(i)*d+hi]
		from := s.sum[int(s.within[i])*d+lo : int(s.within[i])*d+hi]
		for j, v := range x {
			from[j] -= float64(v)
		}
		to := int(s.labels[i])
		add(s.sum[to*d+lo:to*d+hi], x)
	}
}

func add(sum []float64, x []float32) {
	sum = sum[:len(x)]
	for j, v := range x {
		sum[j] += float64(v)
	}
}
