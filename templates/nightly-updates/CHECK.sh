# Tests the updates. If the tests fail, an agent repairs the code, twice at most. Then the branch says the rest.
set -eu
notes=$RAYMOND_TASK_FOLDER
branch=$(git branch --show-current)
# After a repair, the result says what was changed.
if [ -n "${RAYMOND_RESULT:-}" ]; then printf '%s\n' "$RAYMOND_RESULT" >>"$notes/repairs.txt"; fi
touch "$notes/repairs.txt"
if (eval "$test_command") >"$notes/output.txt" 2>&1 </dev/null; then
  git add --all
  git commit --quiet --message 'Update the dependencies' --message "$(cat "$notes/repairs.txt")"
  said="The branch $branch has updates that pass the tests."
elif [ -e "$notes/second" ]; then
  git add --all
  git commit --quiet --message 'Update the dependencies; the tests fail'
  said="The branch $branch has updates with which the tests fail."
else
  if [ -e "$notes/first" ]; then touch "$notes/second"; fi
  touch "$notes/first"
  echo '<function return="CHECK">REPAIR</function>'
  exit
fi
git switch --quiet "$(cat "$notes/from.txt")"
raymond tag result -- "$said"
