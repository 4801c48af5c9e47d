# Moves the request to done/, logs its result, and looks for the next one in a new conversation.
set -eu
for request in "$inbox"/current/*; do
  printf '%s\t%s\n' "$(basename "$request")" "${RAYMOND_RESULT:-}" >> "$inbox/done/log.tsv"
  mv "$request" "$inbox/done/"
done
echo "<reset>START</reset>"
