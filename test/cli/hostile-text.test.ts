/**
 * Text of others (agents, workflows, file names, archives, journals) is shown at a real terminal by
 * every command. It must not act, hide, or begin a line as if Raymond had written it.
 */
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { isLong } from '../long.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { writeZip } from '../zip-writer.ts';

/** Colour, title, clearing, C1, overwriting, bidirectional, zero width, tags, selectors, fillers. */
const ACTING =
  'EVIL\x1b[35m\x1b]0;owned\x07\x1b[2J\x9b2J\x9d0;x\x9c\rover\x08\x7f\u202e\u2066\u200e\u200f\u061c' +
  '\u200b\u200c\u200d\u2060\ufeff\u{e0041}\u{e007f}\u2028\u2029\u00ad\u3164\ufe00\u{e0100}';
const HOSTILE = `${ACTING}\nFORGED: all is well`;
/** As a text of YAML, TOML and JSON. */
const QUOTED = JSON.stringify(HOSTILE).replaceAll('\x7f', '\\u007f');
const FILE = `flow/${HOSTILE}`;

interface Case {
  readonly files?: Readonly<Record<string, string>>;
  /** Commands to run before the checked one. */
  readonly first?: readonly string[];
  readonly args: readonly string[];
}

const says = (text: string, ...args: readonly string[]): Case => ({
  files: { 'flow/START.sh': text },
  args: ['flow', '--workflow-id', 'r', ...args],
});
const writes = (before: string, after: string, ...args: readonly string[]) =>
  says(`printf '${before}%s${after}' "$(cat evil)"`, ...args);
const RESULT = "echo '<result>x</result>'";

const FAULTY = {
  'flow/START.md': `---\neffort: ${QUOTED}\n${QUOTED}: 1\n---\n<goto>${HOSTILE}</goto>`,
  [`${FILE}.md`]: `---\nmodel: [${QUOTED}\n---\n`,
};
const DRAWN = {
  'flow/START.md': `${HOSTILE}\n<goto>${HOSTILE}</goto>`,
  [`${FILE}.md`]: HOSTILE,
};
const TESTS = {
  'flow/START.md': 'x',
  [`${FILE}.sh`]: RESULT,
  'flow/a.test.yaml': `
name: ${QUOTED}
answers: {START: ${JSON.stringify(`<goto>${HOSTILE}</goto>`)}, ${QUOTED}: x}
expect:
  path: [START, ${QUOTED}, MORE]
  result: ${QUOTED}
  prompts: {START: ${QUOTED}, ${QUOTED}: x}
  variables: {${QUOTED}: {${QUOTED}: x}}
`,
};
const CONFIG = '.raymond/config.toml';

const CASES: Readonly<Record<string, Case>> = {
  'a result': writes('<result>', '</result>'),
  'a result, told again': {
    ...writes('<result>', '</result>'),
    first: ['flow', '--workflow-id', 'r'],
    args: ['resume', 'r'],
  },
  'a print': writes('<print>', '</print><result>x</result>'),
  'events as JSON': writes('<print>', '</print><result>x</result>', '--json'),
  'a target that is missing': writes('<goto>', '</goto>'),
  'an attribute': writes('<ask next="START" timeout_next="START" timeout="', '">x</ask>'),
  'a directory': writes('<reset cd="', '">START</reset>'),
  'a workflow': writes('<call-workflow return="START">', '</call-workflow>'),
  'standard error of a script': says('cat evil >&2; exit 1'),
  'states, agents and variables': {
    files: {
      'flow/START.sh': `printf '<fork next="END" item="%s">%s</fork>' "$(cat evil)" "$(cat evil)"`,
      'flow/END.sh': RESULT,
      [`${FILE}.sh`]: RESULT,
    },
    args: ['flow', '--verbose'],
  },
  'front matter': {
    files: {
      'flow/START.md': `---\nmodel: ${QUOTED}\n${QUOTED}: 1\nallowed_transitions: [{tag: ${QUOTED}}]\n---\nx`,
    },
    args: ['flow'],
  },
  'faults of a workflow': { files: FAULTY, args: ['lint', 'flow'] },
  'faults as JSON': { files: FAULTY, args: ['lint', 'flow', '--json'] },
  'faults as SARIF': { files: FAULTY, args: ['lint', 'flow', '--sarif'] },
  'a YAML workflow': {
    files: {
      'flow.yaml': `states:\n  START: {prompt: x, ${QUOTED}: 1, model: ${QUOTED}}\n  ${QUOTED}: {sh: ls}\n`,
    },
    args: ['lint', 'flow.yaml'],
  },
  'an entry of an archive': { args: ['deep.zip'] },
  'an archive': { args: ['lint', 'flat.zip'] },
  'a path': { args: [HOSTILE] },
  'a folder': { files: { [`${HOSTILE}/START.sh`]: 'exit 1' }, args: [HOSTILE] },
  'an option': { args: [`--${HOSTILE}`] },
  'a value of an option': { args: ['flow', '--model', HOSTILE] },
  'a variable': { args: ['flow', '--set', HOSTILE] },
  'the name of a run': { args: ['show', HOSTILE] },
  'a word too many': { args: ['lint', 'flow', '--level', HOSTILE] },
  'a shell': { args: ['completion', HOSTILE] },
  'a template': { args: ['init', HOSTILE] },
  'a folder for a template': { args: ['init', 'poll-and-process', HOSTILE] },
  'a key of the config file': {
    files: { [CONFIG]: `[raymond]\n${QUOTED} = 1\n` },
    args: ['config'],
  },
  'the config file of a doctor': {
    files: { [CONFIG]: `[raymond]\n${QUOTED} = 1\n` },
    args: ['doctor'],
  },
  'the config file': { files: { [CONFIG]: `[raymond]\ninput = ${QUOTED}\n` }, args: ['config'] },
  'the config file as JSON': {
    files: { [CONFIG]: `[raymond]\ninput = ${QUOTED}\n` },
    args: ['config', '--json'],
  },
  metadata: {
    files: { 'flow/START.sh': RESULT },
    first: ['flow', '--workflow-id', 'r', '--set', `item=${HOSTILE}`],
    args: ['show', 'r'],
  },
  'a diagram': { files: DRAWN, args: ['diagram', 'flow'] },
  'a picture': { files: DRAWN, args: ['diagram', 'flow', '--svg'] },
  'a page': { files: DRAWN, args: ['diagram', 'flow', '--html'] },
  'a test': { files: TESTS, args: ['test', 'flow', '--coverage'] },
  'a test as JSON': { files: TESTS, args: ['test', 'flow', '--json'] },
  'a test file': {
    files: { 'flow/START.md': 'x', 'flow/a.test.yaml': `${QUOTED}: 1\n` },
    args: ['test', 'flow'],
  },
  'every path': {
    files: {
      'flow/START.md': `---\nallowed_transitions: [{tag: goto, target: ${QUOTED}}]\n---\nx`,
      [`${FILE}.md`]: '---\nallowed_transitions: [{tag: goto, target: START}]\n---\nx',
    },
    args: ['test', 'flow', '--explore'],
  },
  'a rehearsal': {
    files: {
      'flow/START.md': 'x',
      'flow/rehearsal.yaml': `answers: {START: ${JSON.stringify(`<result>${HOSTILE}</result>`)}}\n`,
    },
    args: ['flow', '--rehearse'],
  },
  'a rehearsal file': {
    files: { 'flow/START.md': 'x', 'flow/rehearsal.yaml': `answers: {${QUOTED}: x}\n` },
    args: ['flow', '--rehearse'],
  },
  'runs in a list': { args: ['list'] },
  'runs as JSON': { args: ['list', '--json'] },
  'a journal of another name': { args: ['resume', 'other'] },
  'a planted run': { args: ['show', 'planted'] },
  'a planted run as JSON': { args: ['show', 'planted', '--json'] },
  'a planted history': { args: ['logs', 'planted'] },
  'a planted history as JSON': { args: ['logs', 'planted', '--json'] },
  'planted questions': { args: ['answer', 'planted', 'yes'] },
  'a planted workflow': { args: ['diagram', '--run', 'planted'] },
};

/** A journal that an attacker put into a project. Every text in it is hostile. */
const SETTINGS = {
  budgetUsd: 1,
  maxIterations: 0,
  idleTimeoutMs: 0,
  permissionMode: 'plan',
  skipPermissions: false,
  maxParallelPrompts: 1,
  maxParallelScripts: 1,
  failFast: false,
  wait: true,
  warm: true,
};
const where = { state: `${HOSTILE}.md`, workflow: HOSTILE, cwd: HOSTILE };
const step = { agent: 'main', step: 1, costUsd: 0.5 };
const failure = { kind: 'crashed', message: HOSTILE };
const child = { ...where, agent: `main_${HOSTILE}`, parent: 'main', counter: 1 };
const tag = { name: 'goto', attributes: {}, body: HOSTILE };
const EVENTS: readonly object[] = [
  {
    type: 'run-started',
    version: 1,
    run: 'planted',
    ...where,
    settings: SETTINGS,
    metadata: { item: HOSTILE },
  },
  { type: 'agent-forked', ...child, variables: { item: HOSTILE } },
  {
    type: 'step-started',
    agent: 'main',
    step: 1,
    attempt: 1,
    state: where.state,
    task: 'state',
    session: { use: 'fresh', id: HOSTILE },
  },
  { type: 'step-ended', ...step, denied: [`Bash ${HOSTILE}`] },
  { type: 'agent-reminded', agent: 'main', number: 1, failure, text: HOSTILE },
  {
    type: 'transition-overridden',
    agent: 'main',
    evaluator: 0,
    by: 'visits',
    written: [tag],
    taken: tag,
  },
  {
    type: 'agent-moved',
    agent: 'main',
    tag: 'goto',
    ...where,
    session: { kind: 'open', id: HOSTILE },
    stack: { kind: 'push', frame: { ...where, session: { kind: 'none' } } },
  },
  { type: 'agent-asked', agent: child.agent, question: HOSTILE, next: where.state },
  { type: 'agent-answered', agent: child.agent, text: HOSTILE },
  { type: 'agent-failed', agent: child.agent, failure },
  { type: 'agent-asked', agent: 'main', question: HOSTILE, next: where.state },
  { type: 'agent-forked', ...child, agent: `other_${HOSTILE}`, variables: {} },
  { type: 'agent-asked', agent: `other_${HOSTILE}`, question: HOSTILE, next: where.state },
];
const PLANTED: Readonly<Record<string, string>> = {
  '.raymond/state/planted.jsonl': EVENTS.map(
    (event) => `${JSON.stringify({ at: 1_700_000_000_000, ...event })}\n`,
  ).join(''),
  // A name that could be used as a path.
  '.raymond/state/other.jsonl': `${JSON.stringify({ at: 1, ...EVENTS[0], run: `../../${HOSTILE}` })}\n`,
  // The name has only letters, and one of them is invisible.
  '.raymond/state/EVIL\u3164.jsonl': `${HOSTILE}\n${HOSTILE}\n`,
};

/** These draw nothing again, so the suite needs no real terminal for them. */
const LOOKING = /^(?:answer|completion|config|diagram|doctor|lint|list|logs|show|test)$/;

async function screenOf(project: Project, args: readonly string[]): Promise<string> {
  if (!isLong && LOOKING.test(args[0] ?? '')) {
    const { stdout, stderr } = await command(project, args, { isTerminal: true });
    return stdout + stderr;
  }
  const terminal = atTerminal(project, args);
  await terminal.ended;
  return terminal.screen();
}

describe.runIf(process.platform === 'linux')('at a terminal', () => {
  test.each(Object.entries(CASES))('%s cannot act', async (_, { files = {}, first, args }) => {
    const project = newProject({ evil: HOSTILE, ...files, ...PLANTED });
    writeFileSync(project.path('flat.zip'), writeZip([{ name: `${HOSTILE}.md` }]));
    writeFileSync(
      project.path('deep.zip'),
      writeZip([{ name: 'START.md' }, { name: `../${HOSTILE}` }]),
    );
    if (first) await command(project, first);
    const shown = withoutOurOwn(await screenOf(project, args));
    expectHarmless(shown);
    expect(shown).toMatch(/EVIL(?:\\x1b|\\u001b|#92;x1b|\\u\{3164\})/);
    // A log may be shown at a terminal later.
    expectHarmless((await command(project, args)).stderr);
  });

  test('a question cannot imitate text of Raymond', async () => {
    const lines = `Fine?\n> no\n\nraymond: Your login has expired.\n${'x'.repeat(90)} FORGED`;
    const project = newProject({
      evil: `${lines}\n${HOSTILE}`,
      'flow/START.sh': `printf '<ask next="GO">%s</ask>' "$(cat evil)"`,
      'flow/GO.sh': RESULT,
    });
    const plain = ['flow', '--workflow-id', 'r', '--plain'];
    const terminal = atTerminal(project, plain, { columns: 80 });
    await eventually('it is asked', () => withoutOurOwn(terminal.screen()).includes('well\r\n> '));
    terminal.type('yes\r');
    expect(await terminal.ended).toBe(0);
    const shown = withoutOurOwn(terminal.screen());
    expectHarmless(shown);
    const [, question = ''] = /main asks:\r\n(.*?)\r\n> /s.exec(shown) ?? [];
    const rows = question.split('\r\n');
    expect(rows.slice(0, 5)).toEqual([
      '  | Fine?',
      '  | > no',
      '  | ',
      '  | raymond: Your login has expired.',
      `  | ${'x'.repeat(76)}`,
    ]);
    for (const row of rows) expect(row).toMatch(/^ {2}\| .{0,76}$/);

    const view = atTerminal(project, ['flow', '--workflow-id', 'v'], { columns: 80 });
    await eventually('it is asked', () => view.screen().includes('> '));
    view.type('yes\r');
    expect(await view.ended).toBe(0);
    const drawn = withoutOurOwn(view.screen());
    expectHarmless(drawn);
    const forged = drawn.split('\r\n').filter((row) => row.includes('raymond: Your login'));
    expect(forged.length).toBeGreaterThan(1);
    for (const row of forged)
      expect(row).toMatch(
        /^ {2}\| |^\?mainSTART\.shasks: |^[\d:]{8} main {3}START\.sh -> ask |^ {16}/,
      );
  });

  test.each([[[]], [['--verbose']]])(
    'messages of an agent and denied tools %j',
    async (options) => {
      const project = newProject({ 'flow/START.md': 'x', 'agent.mjs': AGENT });
      chmodSync(project.path('agent.mjs'), 0o700);
      const env = { RAYMOND_CLAUDE: project.path('agent.mjs'), EVIL: QUOTED };
      const terminal = atTerminal(project, ['flow', ...options], { env });
      expect(await terminal.ended).toBe(0);
      const shown = withoutOurOwn(terminal.screen());
      expectHarmless(shown);
      expect(shown).toContain('was denied: Bash EVIL\\x1b[35m');
      expect(shown).toContain('was not allowed to use EVIL\\x1b[35m');
      expect(shown.includes('| I say EVIL\\x1b[35m')).toBe(options.length > 0);
    },
  );

  test('a start that reports unfinished runs', async () => {
    const project = newProject({ 'flow/START.sh': RESULT, ...PLANTED });
    const terminal = atTerminal(project, ['flow']);
    expect(await terminal.ended).toBe(0);
    expectHarmless(withoutOurOwn(terminal.screen()));
  });

  test('--plain has neither colour nor rows that are drawn again', async () => {
    const project = newProject({ 'flow/START.sh': RESULT });
    const terminal = atTerminal(project, ['flow', '--plain']);
    expect(await terminal.ended).toBe(0);
    expectHarmless(terminal.screen());
  });
});

describe('in a pipe', () => {
  test('a result is printed byte for byte', async () => {
    const project = newProject({
      evil: HOSTILE,
      'flow/START.sh': `printf '<result>%s</result>' "$(cat evil)"`,
    });
    const { stdout } = await project.run(['flow', '--workflow-id', 'r']);
    expect(stdout).toBe(`${HOSTILE}\n`);
    expect((await project.run(['resume', 'r'])).stdout).toBe(`${HOSTILE}\n`);
  });

  test('files for people contain nothing that acts on a terminal', async () => {
    const project = newProject({
      evil: HOSTILE,
      'flow/START.sh': `printf '<print>%s</print><goto>%s</goto>' "$(cat evil)" "$(cat evil)"`,
      [`${FILE}.sh`]: `cat evil >&2; exit 1`,
    });
    const args = ['--workflow-id', 'r', '--set', `item=${HOSTILE}`, '--log-file', 'run.log'];
    expect(await project.run(['flow', ...args])).toMatchObject({ code: 1 });
    const [folder = ''] = readdirSync(project.path('.raymond/debug'));
    const debug = readdirSync(project.path('.raymond/debug', folder));
    expect(debug).toHaveLength(3);
    const files = [
      'run.log',
      '.raymond/state/r.json',
      ...debug.map((name) => `.raymond/debug/${folder}/${name}`),
    ];
    for (const file of files) {
      const text = project.read(file);
      expect(text, file).toMatch(/EVIL(?:\\x1b|\\u001b)/);
      expectHarmless(text);
    }
  });

  test('a JUnit report is valid XML that shows the text', async () => {
    const project = newProject({ evil: HOSTILE, ...TESTS });
    expect(await project.run(['test', 'flow', '--junit', 'j.xml'])).toMatchObject({ code: 1 });
    const xml = project.read('j.xml');
    expectNothingHidden(xml);
    expect(xml).toContain('name="EVIL\\x1b[35m');
  });
});

/** Prints messages like Claude Code: a denied tool, a text, a result. */
const AGENT = `#!/usr/bin/env node
import { createInterface } from 'node:readline';
const EVIL = JSON.parse(process.env.EVIL);
const say = (event) => process.stdout.write(JSON.stringify({ session_id: 'S', ...event }) + '\\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (JSON.parse(line).type !== 'user') continue;
  const message = { id: 'm', model: 'x', usage: {} };
  const input = { command: EVIL };
  say({ type: 'system', subtype: 'init', model: 'x', claude_code_version: '2.1.325' });
  say({ type: 'assistant', message: { ...message, content: [{ type: 'tool_use', name: EVIL, input }] } });
  say({ type: 'system', subtype: 'permission_denied', tool_name: EVIL, message: EVIL });
  const text = 'I say ' + EVIL + ' <result>' + EVIL + '</result>';
  say({ type: 'assistant', message: { ...message, content: [{ type: 'text', text }] } });
  say({ type: 'result', subtype: 'success', is_error: false, result: text, total_cost_usd: 0.25,
    permission_denials: [{ tool_name: 'Bash', tool_input: input }], stop_reason: 'end_turn' });
}
`;

/** Colours of Raymond, and the movements by which it draws rows again. */
function withoutOurOwn(screen: string): string {
  return screen.replace(COLOR, '').replace(DRAWING, '');
}

const ESC = '\x1b';
const COLOR = new RegExp(`${ESC}\\[(?:1|2|22|31|32|33|36|39)m`, 'g');
const DRAWING = new RegExp(`\r(?=${ESC})|${ESC}(?:\\[A|\\[2K|\\[\\d+G|\\[\\?2004[hl])`, 'g');

function expectHarmless(shown: string): void {
  const text = shown.replace(/\r*\n/g, '\n');
  expectNothingHidden(text);
  expect(text.split('\n').filter((line) => line.startsWith('FORGED'))).toEqual([]);
}

function expectNothingHidden(text: string): void {
  const found = new Set([...text.matchAll(HIDDEN)].map(([character]) => character));
  expect([...found].map((character) => character.codePointAt(0)?.toString(16))).toEqual([]);
}

/** By ranges, not by the properties of Unicode that the cleaner uses. */
const HIDDEN = new RegExp(
  `[${[
    ['\0', '\b'],
    ['\v', '\x1f'],
    ['\x7f', '\x9f'],
    ['\xad', '\xad'],
    ['\u034f', '\u034f'],
    ['\u061c', '\u061c'],
    ['\u115f', '\u1160'],
    ['\u180b', '\u180f'],
    ['\u200b', '\u200f'],
    ['\u2028', '\u202e'],
    ['\u2060', '\u206f'],
    ['\u3164', '\u3164'],
    ['\ufe00', '\ufe0f'],
    ['\ufeff', '\ufeff'],
    ['\ufff9', '\ufffb'],
    ['\u{e0000}', '\u{e0fff}'],
  ]
    .map((range) => range.join('-'))
    .join('')}]`,
  'gu',
);
