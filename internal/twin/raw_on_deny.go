//go:build twin_raw_on_deny

package twin

// Is is the name of the twin.
const Is = "raw_on_deny"
