//go:build !twin

package twin

// Is is the name of the twin.
const Is = ""
