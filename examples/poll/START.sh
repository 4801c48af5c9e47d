# Polls until something is ready, and gives up after a while.
#
#   raymond examples/poll                              (there is nothing to wait for: gives up)
#   touch ready && raymond examples/poll               (finds it at once)
#   raymond examples/poll --set tries=3 --set pause=5  (other limits)
#
# A state that goes to itself is a loop. What it has to remember travels in the tag's input, which
# the next step finds in $RAYMOND_RESULT. A real one would ask a build server or a queue.

count=$((${RAYMOND_RESULT:-0} + 1))

if [ -e ready ]; then
  echo "<goto input=\"$count\">READY</goto>"
elif [ "$count" -ge "${tries:-5}" ]; then
  echo "<result>not ready after $count looks</result>"
else
  echo "<print>look $count: not yet</print>"
  sleep "${pause:-1}"
  echo "<goto input=\"$count\">START</goto>"
fi
