# Asks a person. The question is written here, so no agent can change it or answer it.
set -eu
{
  echo "Release version $(cat "$RAYMOND_TASK_FOLDER/version")? (yes, no, or what to change in the notes)"
  echo
  cat "$RAYMOND_TASK_FOLDER/notes.md"
} >"$RAYMOND_TASK_FOLDER/question.txt"
raymond tag ask --body-file "$RAYMOND_TASK_FOLDER/question.txt" \
  --attr next=DECIDE --attr timeout=24h --attr timeout_next=LATE
