cat <<'END'
<fork next="COLLECT" part="1">WORK</fork>
<fork next="COLLECT" part="2">WORK</fork>
END
