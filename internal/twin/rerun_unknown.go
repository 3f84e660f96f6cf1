//go:build twin_rerun_unknown

package twin

// Is is the name of the twin.
const Is = "rerun_unknown"
