package policy

// protectedDirs hold what decides about the agent itself, or is run by others:
// no rule allows writing below them, whether or not they exist yet. A name of
// two elements is one folder in another.
var protectedDirs = map[string]bool{
	// the settings of agents and editors
	".claude": true, ".codex": true, ".gemini": true, ".cursor": true, ".opencode": true, ".openclaw": true,
	".vscode": true, ".idea": true, ".devcontainer": true,
	"etc/claude-code": true, "claudecode": true,
	"etc/codex": true, "etc/gemini-cli": true, "etc/opencode": true, ".config/opencode": true, ".config/claude": true,
	// this gate
	".gatelatch": true, ".config/gatelatch": true, "state/gatelatch": true, "etc/gatelatch": true,
	// Git, ssh, and what others run
	".git": true, ".husky": true, ".config/git": true, ".ssh": true, "etc/ssh": true,
	".config/systemd": true, "etc/systemd": true, "systemd/system": true, "systemd/user": true,
	"library/launchagents": true, "library/launchdaemons": true, ".config/autostart": true,
	"spool/cron": true, "cron/crontabs": true, "etc/cron.d": true, "etc/cron.hourly": true, "etc/cron.daily": true, "etc/cron.weekly": true, "etc/cron.monthly": true,
	// shells
	".config/fish": true, "etc/profile.d": true, ".bashrc.d": true, ".oh-my-zsh": true,
}

// protectedFiles are read by shells, by Git or by agents when they start.
var protectedFiles = map[string]bool{
	".mcp.json": true, ".claude.json": true, ".codex.toml": true, "opencode.json": true, "opencode.jsonc": true, "openclaw.json": true,
	"managed-settings.json": true, "managed-mcp.json": true,
	".envrc": true, ".gitconfig": true, ".gitmodules": true,
	".profile": true, ".bashrc": true, ".bash_profile": true, ".bash_login": true, ".bash_logout": true, ".bash_aliases": true,
	".zshrc": true, ".zshenv": true, ".zprofile": true, ".zlogin": true, ".zlogout": true,
	".kshrc": true, ".cshrc": true, ".tcshrc": true, ".login": true, ".logout": true, ".inputrc": true, ".xprofile": true, ".xinitrc": true, ".xsessionrc": true, ".pam_environment": true,
	"config.fish": true, "authorized_keys": true, "microsoft.powershell_profile.ps1": true,
}

// protectedPlaces are files that count by the folder they are in.
var protectedPlaces = map[string]bool{
	"etc/crontab": true, "etc/anacrontab": true, "etc/profile": true, "etc/bash.bashrc": true, "etc/zshrc": true, "etc/zshenv": true, "etc/environment": true,
	"etc/gitconfig": true, "etc/ld.so.preload": true,
}
