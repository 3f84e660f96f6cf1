// Package twin names the bad twin that a build is: the product with one fault
// built in on purpose, which the tests must notice. "make twins" builds each
// with the tags twin and twin_NAME and runs them. Any other build is none, and
// what a twin does is not in it.
package twin
