# Two reviewers have answered. If both approve, no further model is asked.
set -eu
approvals=0
reviews="$RAYMOND_TASK_FOLDER/reviews.txt"
: >"$reviews"
for vote in "$RAYMOND_TASK_FOLDER"/joined/*; do
  if grep -qx APPROVED "$vote"; then approvals=$((approvals + 1)); fi
  printf '%s\n\n' "$(cat "$vote")" >>"$reviews"
done
if [ "$approvals" -ge 2 ]; then
  echo '<result>APPROVED</result>'
else
  raymond tag goto COMPARE --input-file "$reviews"
fi
