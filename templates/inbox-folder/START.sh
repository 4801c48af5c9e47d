# Reads the request. The agent gets its text, so that the file may be moved meanwhile.
set -eu
if ! [ -s "$RAYMOND_INPUT" ]; then
  echo '<result>The request is empty.</result>'
  exit
fi
head -c 100000 -- "$RAYMOND_INPUT" >"$RAYMOND_TASK_FOLDER/request.md"
basename -- "$RAYMOND_INPUT" >"$RAYMOND_TASK_FOLDER/name.txt"
raymond tag function WORK --attr return=LOG --input-file "$RAYMOND_TASK_FOLDER/request.md"
