# Forks an agent for each open item of TODO.md, at most $most_items. Each agent has its own git worktree.
set -eu
if [ -n "$(git status --porcelain ':(top,exclude).raymond' 2>/dev/null)" ]; then
  # The agents would not see these changes, and a merge could not be undone. Raymond's own files do not count.
  echo "<result>Commit or remove your changes first.</result>"
  exit
fi
open=$(grep -s '^- \[ \] ' TODO.md | head -n "$most_items") || true
if [ -z "$open" ]; then
  echo "<result>TODO.md has no open item.</result>"
  exit
fi
while read -r item; do
  raymond tag fork FIX --attr worktree=true --attr task="${item#- \[ \] }"
done <<<"$open"
echo '<join failed_next="FAILED" timeout="4h" timeout_next="FAILED" rest="stop">MERGE</join>'
