//go:build twin_finish_early

package twin

// Is is the name of the twin.
const Is = "finish_early"
