# Polls until something is ready, and gives up after a while.
#
#   raymond examples/poll                              (finds no file: gives up)
#   touch ready && raymond examples/poll               (finds the file)
#   raymond examples/poll --set tries=3 --set pause=5  (other limits)
#
# A state that goes to itself is a loop. The tag's input carries the count to the next step, which
# finds it in $RAYMOND_RESULT. A real workflow would ask a build server or a queue.

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
