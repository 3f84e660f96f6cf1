//go:build twin_redo_unsynced

package twin

// Is is the name of the twin.
const Is = "redo_unsynced"
