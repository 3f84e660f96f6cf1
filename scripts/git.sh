# Sourced where git is only asked what is in this tree: git refuses to say so in
# a clone that belongs to another user.
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0=$PWD
