"""Files and folders: access that never leads out of a folder, changes that happen as a whole, and news of changes."""
