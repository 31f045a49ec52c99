package glyphs

// blur convolves the coverage, in x and in y, with a kernel of the given
// variance in square pixels that is nearly Gaussian. Beyond the border is paper.
func (b *brush) blur(variance int64, size int) {
	if variance == 0 {
		return
	}
	k := b.gauss(variance)
	convolve(b.spare, b.cover, k, size, 1, size)
	convolve(b.cover, b.spare, k, size, size, 1)
}

// gauss returns one half of a symmetric kernel, the middle first. It is
// [w, 1-2w, w] convolved with itself as often as w <= 1/4 needs, cut beyond four
// standard deviations; what rounding and the cut lose goes to the middle.
func (b *brush) gauss(variance int64) []int64 {
	const unit = 1 << 40
	passes := (2*variance + one - 1) / one // a pass has variance 2w <= 1/2
	w := variance / (2 * passes)
	reach := int(min(passes, int64(isqrt(uint64(16*variance)<<16)>>16)+1))
	for i := range b.kernel {
		if cap(b.kernel[i]) < reach+2 {
			b.kernel[i] = make([]int64, reach+2)
		}
		b.kernel[i] = b.kernel[i][:reach+2]
		clear(b.kernel[i])
	}
	now, next := b.kernel[0], b.kernel[1] // one value more than reach, always 0
	now[0] = unit
	for range passes {
		next[0] = now[0] + 2*w*((now[1]-now[0])>>16)
		for i := 1; i <= reach; i++ {
			next[i] = now[i] + w*((now[i-1]+now[i+1]-2*now[i])>>16)
		}
		now, next = next, now
	}
	middle := int64(one)
	for i := 1; i <= reach; i++ {
		now[i] = (now[i] + unit>>17) >> 24
		middle -= 2 * now[i]
	}
	now[0] = middle
	return now[:reach+1]
}

// convolve filters size lines of size values that are stride apart; lines begin
// next apart.
func convolve(out, in []int32, kernel []int64, size, stride, next int) {
	for l := range size {
		line := in[l*next:]
		for i := range size {
			sum := int64(line[i*stride]) * kernel[0]
			for j := 1; j < len(kernel); j++ {
				if i >= j {
					sum += int64(line[(i-j)*stride]) * kernel[j]
				}
				if i+j < size {
					sum += int64(line[(i+j)*stride]) * kernel[j]
				}
			}
			out[l*next+i*stride] = int32((sum + one/2) >> 16)
		}
	}
}
