# Puts the name of the reviewer above the review.
{
  echo "Review by $reviewer:"
  printf '%s' "${RAYMOND_RESULT:-}"
} >"$RAYMOND_TASK_FOLDER/vote.txt"
raymond tag result --body-file "$RAYMOND_TASK_FOLDER/vote.txt"
