# One round: halves an even number, and turns an odd number n into 3n + 1. It ends at 1.
# The input carries the number and the count of rounds from round to round.

number=${RAYMOND_RESULT% *}
rounds=${RAYMOND_RESULT#* }

if [ "$number" -le 1 ]; then
  echo "<result>$rounds</result>"
else
  if [ $((number % 2)) -eq 0 ]; then number=$((number / 2)); else number=$((number * 3 + 1)); fi
  echo "<print>$number</print>"
  echo "<reset input=\"$number $((rounds + 1))\">ROUND</reset>"
fi
