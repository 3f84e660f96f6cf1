//go:build twin_pause_ignored

package twin

// Is is the name of the twin.
const Is = "pause_ignored"
