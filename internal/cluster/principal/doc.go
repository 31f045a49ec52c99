// Package principal finds the principal components of rows of numbers.
package principal
