// Package sources has the sources of data that are files of a known format (MNIST and its
// relatives, CIFAR, IDX, npy) and the drawn one. Importing it registers them in data.Family.
package sources
