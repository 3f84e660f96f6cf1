//go:build twin_stale_fence

package twin

// Is is the name of the twin.
const Is = "stale_fence"
