# One line per request, for people.
set -eu
name=$(cat "$RAYMOND_TASK_FOLDER/name.txt")
said=$(printf '%s' "${RAYMOND_RESULT:-}" | tr '\t\n' '  ')
printf '%s\t%s\n' "$name" "$said" >>inbox/log.tsv
raymond tag result -- "$name: $said"
