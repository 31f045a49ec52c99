// Package tensorboard writes TensorBoard's event files: scalars, histograms, images and
// hyper-parameters. Equal calls give equal bytes. The wire format is that of TensorFlow's
// event.proto and summary.proto and of the plugin hparams.
package tensorboard
