# Takes the parts of the payload that are needed. The payload is a stranger's: everything else is forgotten, and
# what becomes part of a command has a checked form.
set -eu
notes=$RAYMOND_TASK_FOLDER
node - "$RAYMOND_RESULT_FILE" "$notes" <<'JS'
const { readFileSync, writeFileSync } = require('node:fs');
const [file, notes] = process.argv.slice(2);
const { issue = {}, repository = {} } = JSON.parse(readFileSync(file, 'utf8'));
const number = /^\d{1,9}$/.test(issue.number) ? issue.number : 0;
const name = /^[\w.-]+\/[\w.-]+$/.test(repository.full_name) ? repository.full_name : 'unknown/unknown';
writeFileSync(`${notes}/number.txt`, `${number}\n`);
writeFileSync(`${notes}/repository.txt`, `${name}\n`);
writeFileSync(`${notes}/issue.txt`, `${issue.title ?? ''}\n\n${issue.body ?? ''}`.slice(0, 20000));
JS
raymond tag function TRIAGE --attr return=LABEL --input-file "$notes/issue.txt"
