"""The commands of the jobs screen, in the order of their numbers."""

from __future__ import annotations

MENU = {  # the words of a command, what it is called, what it does
    "add": ("Add a document", "copy a file, a folder or a web page into raw/"),
    "compile": ("Compile", "create articles and cards from new files in raw/"),
    "import": ("Import", "cards from Anki, Obsidian, tables, Mochi and others"),
    "export": ("Export to Anki", "an .apkg file with all cards, for Anki to import"),
    "sync": ("Sync with Anki", "send cards, fetch reviews; Anki must be running"),
    "optimize": ("Optimize", "adapt the scheduler to your reviews"),
    "rebuild": ("Rebuild", "create all pages and cards again from the sources"),
}
