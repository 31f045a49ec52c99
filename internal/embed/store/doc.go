// Package store keeps embeddings of images in a folder: arrays that numpy and faiss open,
// a list of the images, and a document that says what made them. A folder that is being
// written survives the end of its process at any moment.
package store
