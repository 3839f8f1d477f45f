"""Result files → figures, tables, pages; never samples."""
