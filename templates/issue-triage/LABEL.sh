# The policy of TRIAGE allows four results and no others, so the label is safe in a command.
set -eu
export label=$RAYMOND_RESULT
number=$(cat "$RAYMOND_TASK_FOLDER/number.txt")
repository=$(cat "$RAYMOND_TASK_FOLDER/repository.txt")
export number repository
printf '%s#%s\t%s\n' "$repository" "$number" "$label" >>triage.tsv
if [ -n "$label_command" ]; then eval "$label_command" >&2; fi
echo "<result>$repository#$number: $label</result>"
