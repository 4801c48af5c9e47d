# Calls a subroutine, which takes as many rounds as it needs, and goes on with its result.
#
#   raymond examples/collatz
#   raymond examples/collatz --input 27
#
# <call> remembers where to return to. <reset> begins each round afresh (for a prompt: in a new
# session) and keeps that place, so the <result> of any round returns to the caller.

echo "<call return=\"DONE\" input=\"${RAYMOND_INPUT:-6} 0\">ROUND</call>"
