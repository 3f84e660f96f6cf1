//go:build twin_no_polling

package twin

// Is is the name of the twin.
const Is = "no_polling"
