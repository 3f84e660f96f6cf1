//go:build twin_parked_for_any

package twin

// Is is the name of the twin.
const Is = "parked_for_any"
