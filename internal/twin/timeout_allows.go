//go:build twin_timeout_allows

package twin

// Is is the name of the twin.
const Is = "timeout_allows"
