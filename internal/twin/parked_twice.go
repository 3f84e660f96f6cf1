//go:build twin_parked_twice

package twin

// Is is the name of the twin.
const Is = "parked_twice"
