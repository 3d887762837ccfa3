// Package fstool has tools that let a model look at the files of one folder. The
// folder is an [os.Root], which the tools cannot leave: not by an absolute path,
// not by .. and not by a symbolic link. They write nothing.
//
// The caller opens the root, and closes it when no run uses the tools any more.
// Paths are given and shown relative to the root, with slashes. What a tool
// refuses becomes an error result that says why, and what to do instead where
// there is something. An error repeats at most 200 bytes of a path. No result
// names where the root is, or a place outside of it.
//
// A tool ends with the error of its context when that is done, also while it
// waits for a file that has nothing to be read yet. Only where the system itself
// cannot be interrupted, as with a file system that does not answer, does it wait
// for the system.
package fstool
