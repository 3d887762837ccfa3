// Package fstool has tools that let a model look at the files of one folder. The
// folder is an [os.Root], which the tools cannot leave: not by an absolute path,
// not by .. and not by a symbolic link. They write nothing.
//
// The caller opens the root, and closes it when no run uses the tools any more.
// Paths are given and shown relative to the root, with slashes. What a tool
// refuses becomes an error result that says what to do instead. No result names
// where the root is, or a place outside of it.
package fstool
