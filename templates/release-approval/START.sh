# Checks everything that needs no judgement, before a person or a model is asked.
set -eu
version=${RAYMOND_INPUT#v}
if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
  echo "<result>Not released: the version must look like 1.4.0.</result>"
elif [ -n "$(git tag --list "v$version")" ]; then
  echo "<result>Not released: v$version exists already.</result>"
elif ! eval "$test_command" >&2; then
  echo "<result>Not released: the tests fail.</result>"
else
  printf '%s' "$version" >"$RAYMOND_TASK_FOLDER/version"
  git log --no-merges --format='- %s' "$(git describe --tags --abbrev=0 2>/dev/null || git rev-list --max-parents=0 HEAD | tail -n 1)..HEAD" \
    >"$RAYMOND_TASK_FOLDER/commits.txt"
  echo '<goto>NOTES</goto>'
fi
