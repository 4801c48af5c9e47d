import { expect, test } from 'vitest';
import { scriptedWorkflow } from '../testing.ts';
import { mentionsOf } from './mentions.ts';
import { tagCommands } from './tag-commands.ts';

test.each([
  ['raymond tag goto NEXT', '<goto NEXT {}>'],
  ['  /usr/bin/raymond tag goto "NEXT STEP"; exit', '<goto NEXT STEP {}>'],
  ['npx raymond tag goto NEXT --input "$x" || exit 1', '<goto NEXT {"input":"$x"}>'],
  ['raymond tag goto NEXT --input-file <(cat "a b")', '<goto NEXT {"input":"<(cat a b)"}>'],
  [`raymond tag fork W -a next=R --attr 'item=a b'`, '<fork W {"next":"R","item":"a b"}>'],
  ['raymond tag call A \\\n  --attr return=B --attr=x=1', '<call A {"return":"B","x":"1"}>'],
  ['raymond tag result --body-file - <file', '<result $(cat) {}>'],
  ['raymond tag result --json file', '<result $(cat) {}>'],
  ['raymond tag result -- "-5"', '<result -5 {}>'],
  ['x=$(raymond tag goto A)', '<goto A {}>'],
  ['raymond tag goto "$NEXT"', '<goto $NEXT {}>'],
])('%s prints %s', (script, expected) => {
  const found = tagCommands(script).map(
    ({ tag: { name, body, attributes } }) => `<${name} ${body} ${JSON.stringify(attributes)}>`,
  );
  expect(found).toEqual([expected]);
});

test.each(['raymond tag', 'raymond tagged goto A', 'raymond tag gotoo A', 'raymond list'])(
  '%s prints no tag',
  (script) => {
    expect(tagCommands(script)).toEqual([]);
  },
);

test('a script mentions its tags in order, and comments do not count', () => {
  const text = `# raymond tag goto NO\necho '<goto>A</goto>'\n  raymond tag goto B\necho '<goto>C</goto>'\n`;
  const workflow = scriptedWorkflow({ 'START.sh': { text, answers: [] } });
  const state = workflow.states.get(workflow.entry);
  const found = state?.kind === 'script' ? mentionsOf(state) : [];
  expect(
    found.map((one) => one.kind === 'tag' && `${one.tag.body} ${one.line}:${one.column}`),
  ).toEqual(['A 2:7', 'B 3:3', 'C 4:7']);
});
