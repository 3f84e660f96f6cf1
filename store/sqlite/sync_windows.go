package sqlite

func syncDir(string) error { return nil }
