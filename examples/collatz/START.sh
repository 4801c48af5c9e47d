# Calls a subroutine, which takes as many rounds as it needs, and continues with its result.
#
#   raymond examples/collatz
#   raymond examples/collatz --input 27
#
# <call> stores the state to return to. <reset> starts each round in a new session (if it is a
# prompt) and keeps the stored state. So the <result> of any round returns to the caller.

echo "<call return=\"DONE\" input=\"${RAYMOND_INPUT:-6} 0\">ROUND</call>"
