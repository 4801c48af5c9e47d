# Puts the request away, notes what became of it, and looks for the next one with a fresh memory.
set -eu
inbox=${inbox:-inbox}
for request in "$inbox"/current/*; do
  printf '%s\t%s\n' "$(basename "$request")" "${RAYMOND_RESULT:-}" >> "$inbox/done/log.tsv"
  mv "$request" "$inbox/done/"
done
echo "<reset>START</reset>"
