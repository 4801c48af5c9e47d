# Only a clear yes is a yes. Everything except yes and no changes the notes, and the person is asked again.
set -eu
answer=$(printf '%s' "${RAYMOND_INPUT:-}" | tr '[:upper:]' '[:lower:]' | tr -d '[:space:].!')
case $answer in
  yes | y) echo '<goto>RELEASE</goto>' ;;
  no | n | '') echo '<result>Not released: declined.</result>' ;;
  *) raymond tag goto NOTES --input "$RAYMOND_INPUT" ;;
esac
