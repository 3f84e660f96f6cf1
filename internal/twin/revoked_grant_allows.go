//go:build twin_revoked_grant_allows

package twin

// Is is the name of the twin.
const Is = "revoked_grant_allows"
