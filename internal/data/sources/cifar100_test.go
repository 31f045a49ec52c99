package sources_test

import (
	"slices"
	"testing"

	"tercet/internal/data"
	"tercet/internal/data/datatest"
	"tercet/internal/data/sources"
)

// testdata/cifar100 has records as Krizhevsky's page describes them: the coarse label,
// the fine label, 1024 bytes of red, of green and of blue. Pixel p of plane c of item i
// is 40 i + 31 c + p modulo 256.
func TestCIFAR100(t *testing.T) {
	for _, tc := range []struct {
		labels                  string
		train, test             []int32
		classes                 int
		class                   string // of the first image
		trainPrints, testPrints string
	}{
		{"fine", []int32{0, 99, 53, 0}, []int32{53, 0}, 100, "apple", "6a89f4caf576758335e203edfc6f8402eb4e73a4339f28697ba3326db185fc40", "a51bcd5b3ee68f1681f02c1d88124dfdd01a1445359c25b09d3094e4353fe649"},
		{"coarse", []int32{4, 13, 4, 4}, []int32{4, 4}, 20, "fruit_and_vegetables", "6606e732f686ce3c46524c6f3243609c9d6dafbc52cf7c8524113e52398f2ae6", "f61dfb9fc0ad3cc1c63f178ffd580dac797fd1bb7370d01492d5ea7abd86f58e"},
	} {
		source := func(root string) data.Source { return sources.CIFAR100Options{Root: root, Labels: tc.labels} }
		t.Run(tc.labels, func(t *testing.T) {
			datatest.Check(t, "testdata/cifar100", source, tc.trainPrints, tc.testPrints)
			train, test, err := data.Open(t.Context(), data.Options{Source: source("testdata/cifar100")})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(train.Labels(), tc.train) || !slices.Equal(test.Labels(), tc.test) {
				t.Errorf("labels %v and %v, want %v and %v", train.Labels(), test.Labels(), tc.train, tc.test)
			}
			if c := train.Classes(); len(c) != tc.classes || c[tc.train[0]] != tc.class || !slices.IsSorted(c) {
				t.Errorf("%d classes, the first image is of %q", len(c), c[tc.train[0]])
			}
			x := make([]float32, 32*32*3)
			for i := range train.Len() {
				if err := train.Read(i, x); err != nil {
					t.Fatal(err)
				}
				for p := range 1024 {
					for c := range 3 {
						if got, want := x[3*p+c], float32(byte(40*i+31*c+p))/255; got != want {
							t.Fatalf("item %d, pixel %d, channel %d: %v, want %v", i, p, c, got, want)
						}
					}
				}
			}
		})
	}
}
