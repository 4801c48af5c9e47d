# Gives the review to its model. A function can name a model, a fork cannot.
case $reviewer in
  opus) echo '<function model="opus" return="VOTE">REVIEW</function>' ;;
  sonnet) echo '<function model="sonnet" return="VOTE">REVIEW</function>' ;;
  *) echo '<function model="haiku" return="VOTE">REVIEW</function>' ;;
esac
