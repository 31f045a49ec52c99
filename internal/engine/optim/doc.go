// Package optim updates parameters from their gradients: SGD, Adam, AdamW,
// learning-rate schedules and clipping. The arithmetic is that of torch.optim, held
// against goldens from PyTorch. An optimizer's state is saved with a checkpoint, so that
// a resumed run has the same bits.
package optim
