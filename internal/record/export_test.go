package record

// Kept are the documents that are kept in files.
var Kept = kept
