# Polls until the project is quiet: nothing is uncommitted, and the last commit is old enough. A script that
# waits costs nothing. workflow.yaml limits how often it looks.
set -eu
if ! [ -s chores.txt ]; then
  echo '<result>There is no file chores.txt.</result>'
  exit
fi
age=$((($(date +%s) - $(git log -1 --format=%ct)) / 60))
if [ -n "$(git status --porcelain ':(top,exclude).raymond')" ] || [ "$age" -lt "$quiet_minutes" ]; then
  sleep "$pause"
  echo '<reset>START</reset>'
else
  echo '<goto>CHORES</goto>'
fi
