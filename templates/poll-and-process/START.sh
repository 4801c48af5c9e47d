# Looks for a request. Raymond asks no model until it finds one.
# --set once=yes ends the run when the folder is empty.
set -eu
mkdir -p "$inbox/current" "$inbox/done"
next=$(find "$inbox" -maxdepth 1 -type f | sort | head -n 1)
if [ -z "$(ls -A "$inbox/current")" ] && [ -n "$next" ]; then
  mv "$next" "$inbox/current/"
fi
if [ -n "$(ls -A "$inbox/current")" ]; then
  echo "<function return=\"DONE\" input=\"$inbox/current\">PROCESS</function>"
elif [ -n "${once:-}" ]; then
  echo "<result>Nothing is left to do.</result>"
else
  echo "<goto>WAIT</goto>"
fi
