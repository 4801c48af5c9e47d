echo "<result>ready at look $RAYMOND_RESULT</result>"
