package cluster

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"testing"
	"time"
)

// mnist reads the first n test images as rows of 784 numbers in [0, 1].
func mnist(t *testing.T, n int) []float32 {
	t.Helper()
	f, err := os.Open("../../../shared/data/mnist/t10k-images-idx3-ubyte.gz")
	if err != nil {
		t.Skip("MNIST is not at ../shared/data: ", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 16+n*784)
	if _, err := io.ReadFull(z, b); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, n*784)
	for i, v := range b[16:] {
		x[i] = float32(v) / 255
	}
	return x
}

// scikit-learn 1.2.1, KMeans(10, n_init=10, random_state=0) on the first 3,000
// test images: inertia 111144.63.
func TestKMeansMNIST(t *testing.T) {
	x := mnist(t, 3000)
	begin := time.Now()
	r, err := KMeans(context.Background(), x, 3000, 784, KMeansOptions{K: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("inertia %.2f after %d iterations of start %d, %v", r.Inertia, r.Iterations, r.Restart, time.Since(begin).Round(time.Millisecond))
	if r.Inertia > 111144.63*1.005 {
		t.Errorf("inertia %v", r.Inertia)
	}
}
