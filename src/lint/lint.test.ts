import { describe, expect, test } from 'vitest';
import { readYaml, workflowOf, yamlWorkflowOf } from '../../test/lint/workflow-of.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import { type LintOptions, lint, lintFailure } from './lint.ts';
import { toSarif } from './sarif.ts';

const END = '<result>done</result>';

function found(files: Readonly<Record<string, string>>, options: LintOptions = {}): string[] {
  return lint(workflowOf(files), options).map(
    ({ code, file, line, column }) => `${code} ${file}:${line}:${column}`,
  );
}

test.each<[string, Record<string, string>, string[]]>([
  ['nothing', { START: END }, []],
  [
    'a missing target, at the tag',
    { START: `One.\n  Two <goto>X</goto>\n${END}` },
    ['missing-state START.md:2:7'],
  ],
  [
    'a missing return and next',
    { START: `<call return="X">A</call>\n<fork next="Y">A</fork>`, A: END },
    ['missing-state START.md:1:1', 'missing-state START.md:2:1', 'unjoined-fork START.md:2:1'],
  ],
  [
    'a script and a check that need a network and have none',
    {
      'workflow.yaml': 'rights: { network: none }',
      START: `---\nensures: [{ run: npm ci }]\n---\nDo not git push. <goto>PUSH</goto>`,
      'PUSH.sh': `# git push\ntrue && git  push origin\necho '${END}'`,
    },
    ['no-network PUSH.sh:2:9', 'no-network START.md:1:1', 'perhaps-no-network START.md:4:8'],
  ],
  [
    'paths that a state must not or may not write',
    { START: `---\nrights: { write: [src, ../x, a/../../b, ~/y, /z] }\n---\n${END}` },
    [
      ...['rights-nowhere START.md:2:24', 'rights-nowhere START.md:2:30'],
      ...['rights-outside START.md:2:41', 'rights-outside START.md:2:46'],
    ],
  ],
  [
    'secrets that cannot be used, or that others can read',
    {
      START: `---\nrights: { secrets: [GH_TOKEN] }\n---\nUse {{GH_TOKEN}}. <goto>PUSH</goto>`,
      'PUSH.sh': `echo '<goto>B</goto>'`,
      'B.sh': `echo '${END}'`,
      'workflow.yaml':
        'states: { B.sh: { rights: { secrets: [GH_TOKEN], network: [api.github.com] } } }',
    },
    [
      ...['exposed-secrets PUSH.sh:1:1', 'secret-without-hosts START.md:1:1'],
      'secret-in-prompt START.md:4:5',
    ],
  ],
  [
    'secrets that the workflow takes away',
    {
      START: `---\nrights: { secrets: [GH_TOKEN] }\n---\n${END}`,
      'workflow.yaml': 'rights: { secrets: [NPM_TOKEN], network: [api.github.com] }',
    },
    ['secret-nowhere START.md:1:1'],
  ],
  [
    'a script with a network, and one without rights',
    {
      'START.sh': 'git push; echo "<goto>B</goto>"',
      'B.sh': `curl x.org; echo '${END}'`,
      'workflow.yaml': 'states: { B.sh: { rights: { network: [x.org] } } }',
    },
    [],
  ],
  [
    'values that only a run knows',
    {
      'START.sh': `echo "<function return=\\"R\\" model=\\"$model\\">A</function>"`,
      'R.sh': 'echo "$RAYMOND_RESULT"; echo "<goto>J</goto>"',
      'J.sh': `echo "<fork>A</fork><fork>A</fork><join of=\\"$n\\" timeout=\\"$t\\" timeout_next=\\"E\\">E</join>"`,
      E: `Use {{result}}. ${END}`,
      A: END,
    },
    [],
  ],
  [
    'names that a shell fills in',
    {
      'START.sh': String.raw`for n in a b; do echo "<fork worktree=\"$n\" base=\"$b\" n=\"$n\">A</fork>"; done; echo '<join>B</join>'`,
      'B.sh': `printf '<fork next="%s" worktree="%s">%s</fork>\\n' D x C`,
      'C.sh': `echo '<fork next="'$N'" worktree="'"$w"'">A</fork>' # not <goto>X</goto>`,
      'D.sh': `cat <<EOF\n<fork worktree="$w">A</fork>\n<goto>$\{NEXT##*/}</goto>\nEOF`,
      'A.sh': `echo '<result>a</result>'`,
    },
    ['perhaps-unreachable C.sh:1:1', 'perhaps-unreachable D.sh:1:1'],
  ],
  [
    'a join of forks at a state that a shell fills in',
    {
      'START.sh': 'echo "<fork>A</fork><join>$NEXT</join>"',
      'A.sh': `echo '<result>a</result>'`,
    },
    [],
  ],
  [
    'attributes that a shell fills in',
    { 'START.sh': 'echo "<fork $more>A</fork>"', 'A.sh': `echo '<result>a</result>'` },
    [],
  ],
  [
    'a name that stands for any state',
    { START: `<goto>STATE</goto> or <call return="NEXT_STATE">A</call> ${END}`, A: END },
    [],
  ],
  [
    'an instruction in place of a target',
    { START: `<goto>the next state</goto> <goto>[one]</goto> ${END}` },
    [],
  ],
  [
    'a state that cannot be read, between two others',
    { START: '<goto>A</goto>', A: '---\nmodel: gpt\n---\n<goto>B</goto>', B: END },
    ['unknown-model A.md:2:8'],
  ],
  [
    'a tag that the prompt only mentions',
    { START: `End with <goto></goto>, <fork ...>X</fork> or ${END}` },
    [],
  ],
  [
    'a tag that is never closed',
    { START: `<goto>START\n${END}` },
    ['unreadable-example START.md:1:1'],
  ],
  [
    'a misspelled tag',
    { START: `<gotto>START</gotto> ${END}` },
    ['unreadable-example START.md:1:1'],
  ],
  ['HTML', { START: `<form>x</form> <b>START</b> ${END}` }, []],
  [
    'an unquoted attribute',
    { START: `<call return=A>A</call> ${END}`, A: END },
    ['unreadable-example START.md:1:1'],
  ],
  [
    'a call without return',
    { START: `x <call>START</call> ${END}` },
    ['bad-transition START.md:1:3'],
  ],
  [
    'a call without return, of which a policy would remind',
    {
      START: `---\nallowed_transitions: [{tag: call, target: A, return: A}, {tag: result}]\n---\n<call>A</call> ${END}`,
      A: END,
    },
    ['result-ends-run A.md:1:1', 'unread-result START.md:2:23', 'forbidden-tag START.md:4:1'],
  ],
  [
    'a variable that an agent must not choose',
    { START: `<fork next="START" ITEM="1">A</fork> ${END}`, A: END },
    ['bad-transition START.md:1:1', 'unjoined-fork START.md:1:1', 'unlimited-loop START.md:1:1'],
  ],
  [
    'such a variable that the policy names',
    {
      START: `---\nallowed_transitions: [{tag: fork, target: A, next: A, ITEM: 1}]\n---\n<fork next="A" ITEM="1">A</fork>`,
      A: END,
    },
    ['unjoined-fork START.md:2:23'],
  ],
  [
    'such a variable in a script',
    { 'START.sh': `echo '<fork next="A" ITEM="1">A</fork>'`, A: END },
    ['unjoined-fork START.sh:1:7'],
  ],
  [
    'a tag outside quotes',
    { 'START.sh': `echo <goto>A</goto>`, A: END },
    ['unreadable-tag START.sh:1:6'],
  ],
  [
    'escaped quotes',
    { 'START.sh': `echo "<call return=\\"A\\">A</call>"`, A: `{{result}} ${END}` },
    ['result-ends-run A.md:1:12'],
  ],
  [
    'tags that a command of Raymond writes',
    {
      'START.sh': `if x; then raymond tag goto A --input "$(cat "a b")"\nelse echo && raymond tag result --body-file out; fi`,
      A: `{{input}} ${END}`,
    },
    [],
  ],
  [
    'a wrong tag of such a command',
    { 'START.sh': 'raymond tag call A', A: END },
    ['bad-transition START.sh:1:1'],
  ],
  [
    'quotes in a substitution, which the shell uses itself',
    {
      'START.sh': String.raw`echo "<goto input=\"$(cat "a b" | tr -d '<>"')\">A</goto>"`,
      A: `{{input}} ${END}`,
    },
    [],
  ],
  [
    'quotes in single quotes, which the shell prints',
    { 'START.sh': `echo '<goto input="$(cat "a")">A</goto>'`, A: `{{input}} ${END}` },
    ['unreadable-tag START.sh:1:7'],
  ],
  [
    'another tag where none is read',
    {
      START:
        '---\nallowed_transitions: [{tag: goto, target: A}]\nforce_implicit: true\n---\nDo not write <goto>START</goto>.',
      A: END,
    },
    [],
  ],
  [
    'a tag printed in two parts',
    { 'START.sh': `echo "<goto>"\necho A\necho "</goto>"`, A: END },
    ['perhaps-unreachable A.md:1:1'],
  ],
  ['a tag in a comment', { 'START.sh': `# <goto>X</goto>\necho "${END}"` }, []],
  [
    'forks in two branches',
    {
      'START.sh': `if x; then echo "<fork next='A'>A</fork>"; else echo "<fork next='B'>A</fork>"; fi`,
      A: END,
      B: END,
    },
    ['unjoined-fork START.sh:1:18'],
  ],
  [
    'an allowed goto beside forks',
    {
      START:
        '---\nallowed_transitions: [{tag: fork, target: A}, {tag: goto, target: B}]\n---\n<fork>A</fork> <goto>B</goto>',
      A: END,
      B: END,
    },
    ['unjoined-fork START.md:2:23'],
  ],
  ['placeholders of other tools', { START: `$\{{ input }} {{ other }} ${END}` }, []],
  [
    'a variable of a child',
    { START: `<fork next="N" item="1">W</fork>`, W: `{{item}} ${END}`, N: END },
    ['unjoined-fork START.md:1:1'],
  ],
  [
    'forks with a join',
    {
      START: `<fork>W</fork> <join failed_next="F">N</join>`,
      W: END,
      N: `{{result}} ${END}`,
      F: END,
    },
    [],
  ],
  [
    'missing states of a join',
    {
      START: `<fork>W</fork>\n<join failed_next="X" timeout="1h" timeout_next="Y">Z</join>`,
      W: END,
    },
    ['missing-state START.md:1:1', 'missing-state START.md:2:1'],
  ],
  [
    'bad attributes of a join',
    {
      START: `<fork>W</fork><join>N</join> <join of="some">N</join> <join rest="x">N</join>`,
      W: END,
      N: END,
    },
    ['bad-transition START.md:1:30', 'bad-transition START.md:1:55'],
  ],
  [
    'a join in a later state',
    { START: `<fork next="M">W</fork>`, M: '<join>N</join>', W: END, N: END },
    [],
  ],
  [
    'a join in a callee',
    {
      START: `<fork next="M">W</fork>`,
      M: '<call return="N">C</call>',
      C: '<join>D</join>',
      D: END,
      W: END,
      N: `{{result}} ${END}`,
    },
    [],
  ],
  ['a join without forks', { START: '<join>N</join>', N: END }, ['join-without-fork START.md:1:1']],
  [
    'a child that joins, but forks nothing',
    { START: '<fork>W</fork><join>N</join>', W: '<join>E</join>', E: END, N: END },
    ['join-without-fork W.md:1:1'],
  ],
  [
    'a join after another workflow, which may fork',
    {
      START: '<call-workflow return="M">x</call-workflow>',
      M: '{{result}} <join>N</join>',
      N: END,
    },
    [],
  ],
  [
    'a join that waits for more than the script forks',
    { 'START.sh': `echo '<fork>W</fork><fork>W</fork><join of="3">N</join>'`, W: END, N: END },
    ['too-few-forks START.sh:1:35'],
  ],
  [
    'a join in a script with a loop',
    {
      'START.sh': `for n in 1 2 3; do echo '<fork>W</fork>'; done; echo '<join of="3">N</join>'`,
      W: END,
      N: END,
    },
    [],
  ],
  [
    'an evaluator after one that always fires',
    {
      START: `---\nevaluators:\n  - {matches: "", then: {tag: result, payload: x}}\n  - {cost: 1, then: {tag: result, payload: y}}\n---\n${END}`,
    },
    ['evaluator-never-fires START.md:4:5'],
  ],
  [
    'an evaluator after one with a smaller number',
    {
      START: `---\nevaluators:\n  - {visits: 2, then: {tag: result, payload: x}}\n  - {visits: 3, then: {tag: result, payload: y}}\n---\n${END}`,
    },
    ['evaluator-never-fires START.md:4:5'],
  ],
  [
    'a missing target of an evaluator',
    {
      START: `---\nevaluators:\n  - {visits: 2, then: {tag: goto, target: X}}\n---\n${END}`,
    },
    ['missing-state START.md:3:5'],
  ],
  [
    'a missing judge',
    {
      START: `---\nevaluators:\n  - {prompt: X, expect: "Y", then: {tag: result, payload: n}}\n---\n${END}`,
    },
    ['missing-state START.md:3:5'],
  ],
  ['states of the other platform', { START: END, 'BUILD.bat': 'rem', 'BUILD.ps1': '' }, []],
])('%s', (_, files, expected) => {
  expect(found(files)).toEqual(expected);
});

test('a policy must not leave the next of a fork to the agent', () => {
  const START = '---\nallowed_transitions: [{tag: fork, target: W}]\n---\nFork.';
  expect(found({ START, W: END })).toEqual(['incomplete-transition START.md:2:23']);
});

test('the other platform can be checked on any platform', () => {
  const files = { 'START.sh': "echo '<goto>BUILD</goto>'", 'BUILD.sh': `echo '${END}'` };
  expect(found(files)).toEqual([]);
  expect(found(files, { platform: 'windows' })).toEqual(['wrong-platform START.sh:1:1']);
  expect(found({ ...files, 'START.ps1': "'<goto>BUILD</goto>'" }, { platform: 'windows' })).toEqual(
    ['wrong-platform START.ps1:1:2'],
  );
});

describe('schemas', () => {
  const checked = (schema: string, rest: string) => ({
    START: `---\nallowed_transitions:\n  - {tag: function, target: R, return: USE}\n---\n<function return="USE">R</function>`,
    R: `---\nallowed_transitions:\n  - {tag: result, schema: ${schema}}\n---\nReview. <result>{…}</result>`,
    USE: `${rest} ${END}`,
  });
  const REVIEW = JSON.stringify({
    type: 'object',
    required: ['verdict'],
    properties: {
      verdict: { enum: ['yes', 'no'] },
      files: { type: 'array', maxItems: 2, items: { $ref: 'file.schema.json' } },
    },
    additionalProperties: false,
  });
  const FILE = '{ "properties": { "name": { "type": "string" } }, "additionalProperties": false }';
  const files = { 'review.schema.json': REVIEW, 'file.schema.json': FILE };

  test('a path that the schema of a callee cannot have is found', () => {
    const good = '{{result}} {{result.verdict}} {{input.files.1.name}} {{other.tool}}';
    expect(found({ ...checked('review.schema.json', good), ...files })).toEqual([]);
    const bad =
      '{{result.verdit}} {{result.files.2}} {{result.files.0.line}} {{result.verdict.x}} {{resul.verdict}}';
    expect(found({ ...checked('review.schema.json', bad), ...files })).toEqual([
      'impossible-path USE.md:1:1',
      'impossible-path USE.md:1:19',
      'impossible-path USE.md:1:38',
      'impossible-path USE.md:1:62',
      'unfilled-placeholder USE.md:1:83',
    ]);
  });

  test('nothing is said about a value that may come from elsewhere', () => {
    const workflow = { ...checked('review.schema.json', '{{result.verdit}}'), ...files };
    const START = `${workflow.START} <goto>USE</goto>`.replace(
      'return: USE}',
      'return: USE}\n  - {tag: goto, target: USE}',
    );
    expect(found({ ...workflow, START })).toEqual([]);
  });

  test.each([
    ['a missing file', 'other.schema.json', 'bad-schema R.md:3:27'],
    ['a file of another kind', 'package.json', 'bad-schema R.md:3:27'],
    ['a file elsewhere', '../x.schema.json', 'bad-schema R.md:3:27'],
    ['a wrong keyword', '{typ: string}', 'bad-schema R.md:3:33'],
    ['a remote reference', '{$ref: "https://example.com/x.schema.json"}', 'bad-schema R.md:3:27'],
    ['a fault in a file', 'bad.schema.json', 'bad-schema bad.schema.json:3:20'],
    [
      'a fault in a file that another one names',
      '{items: {$ref: bad.schema.json}}',
      'bad-schema bad.schema.json:3:20',
    ],
    ['a file that is not JSON', 'text.schema.json', 'bad-schema text.schema.json:1:1'],
    ['a format', '{format: date}', 'unchecked-format R.md:3:36'],
    ['a schema beside a payload', '{}, payload: x', 'bad-transition R.md:3:5'],
    ['a schema that refers to itself', '{$ref: "#"}', 'bad-schema R.md:3:27'],
  ])('%s is found at its place', (_, schema, expected) => {
    const others = {
      'bad.schema.json': '{\n  "properties": {\n    "a": { "type": "text" }\n  }\n}'.replace(
        '"a": {',
        '"a": {',
      ),
      'text.schema.json': 'no JSON',
    };
    expect(found({ ...checked(schema, '{{result}}'), ...files, ...others })).toContain(expected);
  });
});

test('names that the run receives are known', () => {
  const files = { START: `Solve {{issue}}. ${END}` };
  expect(found(files)).toEqual(['unfilled-placeholder START.md:1:7']);
  expect(found(files, { variables: ['issue'] })).toEqual([]);
});

describe('in a workflow in one file', () => {
  const YAML = `# A workflow
states:
  START:
    prompt: |

      Go to <goto>X1</goto>
        and <goto>X2</goto>.
  FOLDED:
    prompt: >
      Go to
      <goto>X3</goto>
  PLAIN: { prompt: Go to <goto>X4</goto> }
  QUOTED: { prompt: "Go to <goto>X5</goto>" }
  ESCAPED: { prompt: "Go\\n to <goto>X6</goto>" }
  SCRIPT:
    sh: |2-
        echo "<goto>X7</goto>"
  WRONG_LINES:
    sh: "echo\\r\\n"
`;
  const lines = YAML.split('\n');
  const all = lint(yamlWorkflowOf('flow.yaml', YAML));

  test('every diagnostic names that file, and a place in it', () => {
    expect(all.length).toBe(8);
    for (const { file, line, column } of all) {
      expect(file).toBe('flow.yaml');
      expect(lines[line - 1]?.length).toBeGreaterThanOrEqual(column);
    }
  });

  test.each([
    ['X1', 6, 13],
    ['X2', 7, 13],
    ['X3', 10, 7],
    ['X4', 12, 26],
    ['X5', 13, 28],
    ['X6', 14, 23],
    ['X7', 17, 15],
  ])('the tag with the target %s is on line %s, column %s', (name, line, column) => {
    const tag = all.find(({ message }) => message.includes(`"${name}"`));
    expect(tag).toMatchObject({ code: 'missing-state', line, column });
  });
});

describe('the parts of a policy', () => {
  const POLICY = `allowed_transitions:
  - { tag: goto, target: X1 }
  - tag: goto
    target: X2
  - { tag: result }
evaluators: [{ visits: 2, then: { tag: goto, target: X3 } }, { prompt: X4, expect: a, then: { tag: result, payload: b } }]
ensures:
  - run: make
    on: [ result, goto X5 ]
    else: { tag: goto, target: X6 }
`;
  const PLACES = [
    ['X1', 2, 5],
    ['X2', 3, 5],
    ['X3', 6, 14],
    ['X4', 6, 62],
    ['goto X5', 9, 19],
    ['X6', 8, 5],
  ] as const;
  const inFolder = lint(workflowOf({ START: `---\n${POLICY}---\n${END}` }));
  const indented = POLICY.replace(/^/gm, '    ').trimEnd();
  const YAML = `states:\n  START:\n${indented}\n    prompt: ${END}\n`;
  const inYaml = lint(yamlWorkflowOf('flow.yaml', YAML));

  test.each(PLACES)('%s has its line and its column', (name, line, column) => {
    const mentions = ({ message }: { message: string }) => message.includes(name);
    expect(inFolder.find(mentions)).toMatchObject({ file: 'START.md', line: line + 1, column });
    expect(inYaml.find(mentions)).toMatchObject({
      file: 'flow.yaml',
      line: line + 2,
      column: column + 4,
    });
  });

  test('SARIF also has them', () => {
    const log = JSON.stringify(toSarif(inFolder, '1.2.3', AGENTS));
    for (const [, line, column] of PLACES)
      expect(log).toContain(`"region":{"startLine":${line + 1},"startColumn":${column}}`);
  });
});

test('a missing entry is a fault of the whole file', () => {
  const reading = readYaml('flow.yaml', 'states: { A: { prompt: x } }');
  expect(reading.ok ? [] : lintFailure(reading)).toMatchObject([{ code: 'no-entry', file: '' }]);
});

test('the nearest name is suggested', () => {
  // REVIEW is not reported as unreachable: the wrong tag was meant for it.
  expect(lint(workflowOf({ START: '<goto>REVEIW</goto>', REVIEW: END }))).toMatchObject([
    { code: 'missing-state', nearest: 'REVIEW.md', remedy: 'Did you mean REVIEW.md?' },
  ]);
});
