// Package scheduler knows the systems that start a sweep's tasks on many machines: where
// each puts the index of a task and the name of its job.
package scheduler
