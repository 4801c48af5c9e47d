# Lists the open issues, one per line: number, tab, title. Replace the command with your tracker's.
set -eu
if [ -f issues.tsv ]; then
  issues=$(cat issues.tsv)
else
  issues=$(gh issue list --state open --label ready --json number,title \
    --jq '.[] | "\(.number)\t\(.title)"')
fi
if [ -z "$issues" ]; then
  echo "<result>There is no open issue.</result>"
else
  printf '%s\n' "$issues" > "$RAYMOND_TASK_FOLDER/issues.tsv"
  echo "<goto>DISPATCH</goto>"
fi
