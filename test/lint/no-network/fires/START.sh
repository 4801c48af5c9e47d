git push
echo "<result>done</result>"
