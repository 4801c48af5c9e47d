# Shows the difference to three reviewers at the same time. The first two results decide.
set -eu
git diff --merge-base "$base" >"$RAYMOND_TASK_FOLDER/change.diff"
if ! [ -s "$RAYMOND_TASK_FOLDER/change.diff" ]; then
  echo "<result>There is no change since $base.</result>"
  exit
fi
for reviewer in opus sonnet haiku; do
  raymond tag fork REVIEWER --attr reviewer="$reviewer" --attr change="$RAYMOND_TASK_FOLDER/change.diff"
done
echo '<join of="2" failed_next="NO_VERDICT" timeout="30m" timeout_next="NO_VERDICT" rest="stop">VERDICT</join>'
