/** `raymond tag` in scripts: every value arrives as it was given. */
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { BIN } from '../raymond.ts';

const HARD = `"a" & <b> 'c' > &amp;\n$(x) \`y\` ümlaut </goto>\n`;

test('a script passes any text to the next state', async () => {
  const raymond = `${process.execPath} ${BIN}`;
  const project = newProject({
    'Ein Ablauf/START.sh': `${raymond} tag goto NEXT --input-file "notes ü.txt"`,
    'Ein Ablauf/NEXT.sh': `${raymond} tag goto LAST --input-file <(cat "$RAYMOND_RESULT_FILE")`,
    'Ein Ablauf/LAST.sh': `${raymond} tag result --body-file "$RAYMOND_RESULT_FILE"`,
    'notes ü.txt': HARD,
  });
  const { stdout, stderr, code } = await project.run(['Ein Ablauf', '--quiet']);
  expect(stderr).toBe('');
  expect(stdout).toBe(`${HARD}\n`);
  expect(code).toBe(0);
});

test('the JSON of a result keeps its letters, and cannot end its tag', async () => {
  const project = newProject({
    'a ü.json': '\n{"n": 12345678901234567890, "text": "</result><goto>X</goto>"}\n',
    'bad.json': '{"n": }',
  });
  const { stdout } = await command(project, ['tag', 'result', '--json', 'a ü.json']);
  expect(stdout).toBe(
    '<result>{"n": 12345678901234567890, "text": "\\u003c/result>\\u003cgoto>X\\u003c/goto>"}</result>\n',
  );
  const bad = await command(project, ['tag', 'result', '--json', 'bad.json']);
  expect(bad.stderr).toContain('bad.json is not JSON');
  expect(bad.code).toBe(64);
});

/** Only a process of its own has a standard input of its own. */
function tag(args: readonly string[], input: string | Buffer) {
  const project = newProject({});
  const line = ['tag', ...args];
  return args.includes('-') ? project.run(line, { input }) : command(project, line);
}

test.each<[readonly string[], string]>([
  [['goto', 'NEXT'], '<goto>NEXT</goto>'],
  [['goto', 'NEXT', '--input', '"&'], '<goto input="&quot;&amp;">NEXT</goto>'],
  [
    ['call', 'A', '-a', 'return=B', '--input-file', '-'],
    '<call return="B" input="from &lt;stdin>">A</call>',
  ],
  [['fork', 'W', '--attr', 'item=a=b', '--attr', 'next=R'], '<fork item="a=b" next="R">W</fork>'],
  [['result', '--', '-5'], '<result>-5</result>'],
  [['result', ''], '<result></result>'],
  [['result', '--body-file', '-'], '<result>from <stdin></result>'],
  [
    ['function', 'A', '-a', 'return=B', '-a', 'model=haiku'],
    '<function return="B" model="haiku">A</function>',
  ],
  [
    ['ask', 'Gehört das so?', '-a', 'next=A', '-a', 'timeout=1h', '-a', 'timeout_next=B'],
    '<ask next="A" timeout="1h" timeout_next="B">Gehört das so?</ask>',
  ],
  [
    ['call-workflow', '../b c', '-a', 'return=B'],
    '<call-workflow return="B">../b c</call-workflow>',
  ],
])('raymond tag %j prints %s', async (args, printed) => {
  const { stdout, stderr, code } = await tag(args, 'from <stdin>');
  expect(stderr).toBe('');
  expect(stdout).toBe(`${printed}\n`);
  expect(code).toBe(0);
});

test.each<[readonly string[], string]>([
  [['gotto', 'A'], 'There is no tag "gotto".'],
  [['goto'], 'The body of <goto> is missing.'],
  [['call', 'A'], '<call>: the attribute return is missing.'],
  [['goto', 'A', '--attr', 'input'], '--attr is "input".'],
  [['goto', 'A', '--input', 'a', '-a', 'input=b'], 'The attribute input is given twice.'],
  [['goto', 'A', '--input', 'a', '--input-file', 'b'], '--input and --input-file are both given.'],
  [['goto', 'A', '--body-file', 'b'], 'A body and --body-file are both given.'],
  [['goto', '--json', 'b'], 'The tag <goto> has no JSON.'],
  [['result', 'A', '--json', 'b'], 'A body and --json are both given.'],
  [['result', '--json', 'missing'], 'missing cannot be read'],
  [['goto', 'A', '--input-file', 'missing'], 'missing cannot be read'],
  [['goto', 'A', '--input-file', '.'], '. cannot be read'],
  [['goto', '--body-file', '-', '--input-file', '-'], 'Standard input can be read only once.'],
  [['goto', 'A', '--input-file', '-'], 'Standard input is not UTF-8: the byte at offset 1'],
  [['result', 'a</result>b'], 'The body contains </result>'],
  [['result', 'a', '--input', 'b'], 'there is no attribute input'],
])('raymond tag %j is refused', async (args, problem) => {
  const { stdout, stderr, code } = await tag(args, Buffer.from([0x61, 0xff]));
  expect(stderr).toContain(problem);
  expect(stdout).toBe('');
  expect(code).toBe(64);
});
