// Package digest holds the test that training gives the same bits today as when
// its digests were stored, on any processor with the same kernel level. The
// digests are in testdata/digests.txt, the runs in digest_test.go.
package digest
