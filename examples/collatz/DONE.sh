echo "<result>1 is reached after $RAYMOND_RESULT rounds</result>"
