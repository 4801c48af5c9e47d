# Tags the commit with the approved notes, and releases it.
set -eu
version=$(cat "$RAYMOND_TASK_FOLDER/version")
export version
git tag --annotate "v$version" --file "$RAYMOND_TASK_FOLDER/notes.md"
eval "$release_command" >&2
echo "<result>Released $version.</result>"
