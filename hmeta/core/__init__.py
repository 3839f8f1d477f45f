"""Words that every room shares: errors, schema, registry, random streams, files, provenance."""
