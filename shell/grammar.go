package shell

// reads returns the grammar of a program whose words are no options and
// operands, nil for others.
func (s *spec) reads() func(*usage) WordValue {
	switch s.grammar {
	case "echo":
		return echo
	case "printf":
		return printf
	case "test":
		return test
	case "eval":
		return eval
	case "set":
		return setOptions
	case "env":
		return envCommand
	case "find":
		return find
	case "dd":
		return dd
	case "fd":
		return fd
	default:
		return nil
	}
}

// looks returns what else is to be judged after the options and operands.
func (s *spec) looks() func(*usage, WordValue) WordValue {
	switch s.grammar {
	case "cd":
		return cd
	case "pwd":
		return pwd
	case "xargs":
		return xargs
	case "shell":
		return shellCommand
	case "unset":
		return unset
	case "sed":
		return sed
	case "awk":
		return awk
	case "date":
		return date
	case "jq":
		return jq
	case "sql", "sqlquery":
		return sql
	case "git":
		return git
	case "link":
		return link
	case "ghapi":
		return ghAPI
	case "grep", "rg":
		return grep
	case "printenv":
		return printenv
	case "package", "formula", "picture", "archive":
		return simpleNames
	case "folders":
		return folders
	case "rtk":
		return rtk
	case "files":
		return filesInWords
	case "sysctl":
		return sysctl
	case "ps":
		return ps
	case "kubectl":
		return kubectl
	case "getent":
		return getent
	case "project":
		return project
	case "shows":
		return shows
	case "gh":
		return gh
	case "shift":
		return shift
	case "gitremote":
		return gitRemote
	case "gitconfig":
		return gitConfig
	default:
		return nil
	}
}
