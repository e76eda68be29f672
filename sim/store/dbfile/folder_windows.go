package dbfile

// syncFolder has nothing to do: the system writes a changed name down by itself.
func syncFolder(string) error { return nil }
