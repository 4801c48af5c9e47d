cat <<'END'
<fork next="COLLECT" part="1">WORK</fork>
<fork next="DONE" part="2">WORK</fork>
END
