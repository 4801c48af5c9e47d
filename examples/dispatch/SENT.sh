echo "<result>$RAYMOND_RESULT workers sent</result>"
