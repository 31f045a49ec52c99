package mahalanobis

// interpolated is pairwise by sums over panels, in O(n + m) and a sum over pairs of
// panels in place of n m triplets: on two panels
//
//	sum_jk f(p_j - q_k) = sum_mn c_mn (sum_j T_m(x_j)) (sum_k T_n(y_k)).
//
// Where q lies in a lower panel than p, u is above 0, and softplus(u) = u +
// softplus(-u), sigmoid(u) = 1 - sigmoid(-u): sums and numbers of the lower panels
// give the first term, and the second is the table's with p and q exchanged. Its
// error is some 10^-15 of each triplet. base is the least of p + zeta and q.
func (a *anchor) interpolated(p, q []float64, zeta, base float64, to, from []float64, slopes bool) float64 {
	ps, qs := &a.ps, &a.qs
	ps.fill(p, zeta, base)
	qs.fill(q, 0, base)
	t := kernels()
	value := 0.0
	count, sum, low := 0.0, 0.0, 0 // of the q in panels below p's
	for i, k := range ps.number {
		for ; low < len(qs.number) && qs.number[low] < k; low++ {
			count += qs.moment[low][0]
			sum += qs.sum[low]
		}
		m := &ps.moment[i]
		value += float64(ps.sum[i]*count) - float64(m[0]*sum)
		ps.out[i][0] += count
		for j := low - 1; j >= 0 && k-qs.number[j] <= reach; j-- {
			o := k - qs.number[j]
			value += twoSided(&t.value[o], &qs.moment[j], m)
			if slopes {
				subtract(&t.slope[o], &qs.moment[j], m, &qs.out[j], &ps.out[i])
			}
		}
		for j := low; j < len(qs.number) && qs.number[j]-k <= reach; j++ {
			o := qs.number[j] - k
			value += twoSided(&t.value[o], m, &qs.moment[j])
			if slopes {
				add(&t.slope[o], m, &qs.moment[j], &ps.out[i], &qs.out[j])
			}
		}
	}
	if slopes {
		count, high := 0.0, len(ps.number)-1 // of the p in panels above q's
		for j := len(qs.number) - 1; j >= 0; j-- {
			for ; high >= 0 && ps.number[high] > qs.number[j]; high-- {
				count += ps.moment[high][0]
			}
			qs.out[j][0] += count
		}
		ps.gather(to)
		qs.gather(from)
	}
	return value
}

// twoSided returns x^T c y.
func twoSided(c *block, x, y *basis) float64 {
	sum := 0.0
	for m, f := range x {
		row := &c[m]
		s, t := row[0]*y[0], row[1]*y[1]
		for n := 2; n+1 < order; n += 2 {
			s += float64(row[n] * y[n])
			t += float64(row[n+1] * y[n+1])
		}
		sum += float64(f * (s + float64(row[order-1]*y[order-1]) + t))
	}
	return sum
}

// add adds c y to outX and c^T x to outY.
func add(c *block, x, y, outX, outY *basis) {
	for m, f := range x {
		s := 0.0
		for n, v := range c[m] {
			s += float64(v * y[n])
			outY[n] += float64(v * f)
		}
		outX[m] += s
	}
}

// subtract takes c y off outX and c^T x off outY.
func subtract(c *block, x, y, outX, outY *basis) {
	for m, f := range x {
		s := 0.0
		for n, v := range c[m] {
			s += float64(v * y[n])
			outY[n] -= float64(v * f)
		}
		outX[m] -= s
	}
}
