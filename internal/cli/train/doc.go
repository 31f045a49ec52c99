// Package train is the command that trains a run or a sweep.
package train
