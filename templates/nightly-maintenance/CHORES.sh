# Runs the commands of chores.txt in order. The first one that fails goes to an agent, twice at most.
set -eu
notes=$RAYMOND_TASK_FOLDER
tried="$notes/tried.txt"
output="$notes/output.txt"
report="$notes/report.txt"
repairs="$notes/repairs.txt"
touch "$tried" "$repairs"
# After a repair, the result says what was wrong.
if [ -n "${RAYMOND_RESULT:-}" ]; then printf 'repair: %s\n' "$RAYMOND_RESULT" >>"$repairs"; fi
cp "$repairs" "$report"
while read -r chore; do
  case $chore in '' | '#'*) continue ;; esac
  if bash -c "$chore" >"$output" 2>&1 </dev/null; then
    printf 'ok: %s\n' "$chore" >>"$report"
  elif [ "$(grep -cxF -- "$chore" "$tried" || true)" -ge 2 ]; then
    printf 'still fails: %s\n' "$chore" >>"$report"
  else
    printf '%s\n' "$chore" >>"$tried"
    printf '%s\n' "$chore" >"$notes/chore.txt"
    echo '<goto>BRANCH</goto>'
    exit
  fi
done <chores.txt
raymond tag result -- "$(cat "$report")"
