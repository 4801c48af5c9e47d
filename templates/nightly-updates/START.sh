# Updates on a branch of this night. A night without updates leaves no branch, and asks no model.
set -eu
if [ -n "$(git status --porcelain ':(top,exclude).raymond')" ]; then
  echo '<result>Nothing was updated, because the project has uncommitted changes.</result>'
  exit
fi
git branch --show-current >"$RAYMOND_TASK_FOLDER/from.txt"
branch="updates-$(date +%F)"
git switch --quiet --force-create "$branch"
eval "$update_command" >&2
if [ -z "$(git status --porcelain ':(top,exclude).raymond')" ]; then
  git switch --quiet "$(cat "$RAYMOND_TASK_FOLDER/from.txt")"
  git branch --quiet --delete --force "$branch"
  echo '<result>Everything is up to date.</result>'
else
  echo '<goto>CHECK</goto>'
fi
