# Merges the branch of each agent that gave a result. A conflict is left to an agent.
set -eu
left_out="$RAYMOND_TASK_FOLDER/left-out.txt"
touch "$left_out"
for result in "$RAYMOND_TASK_FOLDER"/joined/*; do
  [ -f "$result" ] || continue
  branch="raymond/$RAYMOND_WORKFLOW_ID/$(basename "$result")"
  # Raymond has removed the branch of an agent that committed nothing.
  git rev-parse --quiet --verify "refs/heads/$branch" >/dev/null || continue
  if git merge-base --is-ancestor "$branch" HEAD || grep -qwF "$branch" "$left_out"; then continue; fi
  if git merge --quiet --no-edit "$branch" >&2; then continue; fi
  # Without this reference, the merge has failed for another reason. Git has reported it.
  git rev-parse --quiet --verify MERGE_HEAD >/dev/null || exit 1
  echo "<goto input=\"$branch\">CONFLICT</goto>"
  exit
done
echo '<goto>FINISH</goto>'
