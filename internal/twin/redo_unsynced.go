//go:build twin_synchronous_normal

package twin

// Is is the name of the twin.
const Is = "synchronous_normal"
