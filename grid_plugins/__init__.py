"""Grid's own algorithms, one folder a family, all announced as any plugin is."""
