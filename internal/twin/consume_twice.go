//go:build twin_consume_twice

package twin

// Is is the name of the twin.
const Is = "consume_twice"
