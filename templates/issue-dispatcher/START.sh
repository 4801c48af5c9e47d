# Hands on the open issues, one line each: number, tab, title. Replace the command by your tracker's.
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
