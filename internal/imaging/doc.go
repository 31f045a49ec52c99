// Package imaging reads and changes images of 8 bits as the tools of the field do: files
// decoded as Pillow does on libjpeg-turbo, resized as Pillow does, cropped and recolored as
// torchvision does to Pillow's images. It knows no data sets and no files, only bytes.
//
// Resizing, cropping and recoloring are equal to theirs bit by bit. Decoded JPEGs differ by
// the inverse transform of the standard library, which gives a few percent of the samples
// another last bit. The orientation in EXIF data is not applied, as neither does.
package imaging
