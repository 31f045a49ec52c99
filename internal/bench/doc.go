// Package bench measures this machine and the jobs that Tercet exists for on it:
// products, convolutions, training steps of real networks, search and
// clustering. Training jobs run the training loop itself.
package bench
