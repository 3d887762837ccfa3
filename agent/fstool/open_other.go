//go:build !unix

package fstool

// nonblock is 0 where opening a file of the file system does not block.
const nonblock = 0
