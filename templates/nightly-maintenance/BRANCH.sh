# Repairs are commits on a branch of this night. In a night without repairs, the branch does not change.
set -eu
branch="nightly-$(date +%F)"
if [ "$(git branch --show-current)" != "$branch" ]; then
  git switch --quiet "$branch" 2>/dev/null || git switch --quiet --create "$branch"
fi
echo '<function return="CHORES">REPAIR</function>'
