# $file is the attribute of the fork that started this agent.

lines=$(grep -c '' "$file")
echo "<print>$file has $lines lines</print>"
echo "<result>$lines</result>"
