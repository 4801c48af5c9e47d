# One round: half of an even number, three times an odd one and one more. At 1 it is over.
# The number and the count of rounds go from round to round in the input.

number=${RAYMOND_RESULT% *}
rounds=${RAYMOND_RESULT#* }

if [ "$number" -le 1 ]; then
  echo "<result>$rounds</result>"
else
  if [ $((number % 2)) -eq 0 ]; then number=$((number / 2)); else number=$((number * 3 + 1)); fi
  echo "<print>$number</print>"
  echo "<reset input=\"$number $((rounds + 1))\">ROUND</reset>"
fi
