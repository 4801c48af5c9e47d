// Writes the golden journals of a version with a real raymond, which runs in a folder /project.
//
//   npm run build && node scripts/write-journals.js --into test/journals/version-3
//
// With --bin, another raymond writes them, such as a build of an earlier release. With names of runs
// behind the options, only those are written.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { importTypeScript } from './typescript-of-tests.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const agents = join(root, 'test/real-agent/node_modules');
// Lines have checksums, so the folder cannot be given another name afterwards.
const project = '/project';
const home = mkdtempSync(join(tmpdir(), 'raymond-journals-'));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: 'string' },
    bin: { type: 'string', default: join(root, 'bin/raymond.js') },
  },
});
if (values.into === undefined) throw new Error('Name the folder to write: --into <folder>');
if (existsSync(project)) throw new Error(`${project} exists already. Remove it first.`);
const bin = resolve(values.bin);
const into = resolve(values.into);

/** A run with forks, calls, a failure, a resume and, at its end, an open question. */
async function question() {
  write('trouble', {
    'START.sh': `mkdir -p a
echo '<fork next="NEXT" cd="a" item="größe &quot;1&quot;">WORKER</fork><fork next="NEXT" item="b">WORKER</fork>'`,
    'WORKER.sh': 'echo "<result>$item</result>"',
    'NEXT.sh': `echo '<call return="BACK" input="seven">SUB</call>'`,
    'SUB.sh': `echo '<function return="AGAIN">DEEP</function>'`,
    'DEEP.sh': `printf '<result>deep "result"\\nwith two lines 😀</result>'`,
    'AGAIN.sh': `echo '<reset cd="a" input="x">LAST</reset>'`,
    'LAST.sh': `echo '<result>sub is done</result>'`,
    'BACK.sh': `[ -e mended ] || { echo 'not today' >&2; exit 3; }
echo '<ask next="AFTER">Is it done?</ask>'`,
    'AFTER.sh': 'echo "<result>a person said $RAYMOND_RESULT</result>"',
  });
  await ends(1, 'trouble', '--input', 'hello', '--set', 'issue=195', '--workflow-id', 'question');
  writeFileSync(join(project, 'mended'), '');
  await ends(2, 'resume', 'question');
}

/** A run that was killed while two of its three children ran. */
async function killed() {
  write('crew', {
    'START.sh': `for n in 1 2 3; do echo "<fork next='MAIN' number='$n'>WORK</fork>"; done`,
    'MAIN.sh': `echo '<result>all are sent</result>'`,
    'WORK.sh': `[ "$number" = 3 ] || sleep 1000
echo "<result>$number</result>"`,
  });
  await killedAt('"main_work3","result"', 'crew', ['--budget', '5', '--model', 'sonnet'], 'killed');
}

/**
 * A run that was killed while its first agent asked a question and its children ran. The first child
 * then finished, and the second was killed, too. Their records are kept with the journal.
 */
async function asked() {
  write('asked', {
    'START.sh': `for n in 1 2; do echo "<fork next='ASK' number='$n'>WORK</fork>"; done`,
    'ASK.sh': `echo '<ask next="AFTER">Which colour?</ask>'`,
    'AFTER.sh': 'echo "<result>painted $RAYMOND_RESULT</result>"',
    'WORK.sh': `until [ -e "go$number" ]; do sleep 0.05; done
echo "<result>$number was there</result>"`,
  });
  await killedAt('"agent-asked"', 'asked', [], 'asked', async () => {
    writeFileSync(join(project, 'go1'), '');
    const first = join(project, '.raymond/runs/asked/steps/main_work1/1');
    // A launcher records the end in `launch`, an earlier release in a separate file.
    const exits = () => readdirSync(first).filter((name) => /^(launch|exit-.*)$/.test(name));
    const hasEnded = (name) => readFileSync(join(first, name), 'utf8').includes('exited');
    while (!exits().some(hasEnded)) await delay(20);
  });
}

/**
 * A run with three joins: one has reported a failure, one has stopped a child, and one still waited
 * when the run was killed.
 */
async function joined() {
  write('joined', {
    'START.sh': `echo '<fork n="1">WORK</fork><fork n="2">WORK</fork><join>RACE</join>'`,
    'RACE.sh': `echo '<fork n="3">WORK</fork><fork n="9">WORK</fork><join of="any">LAST</join>'`,
    'LAST.sh': `echo '<fork n="4">WORK</fork><fork n="9">WORK</fork><join timeout="1h" timeout_next="LAST" failed_next="LAST">END</join>'`,
    'END.sh': `echo '<result>never</result>'`,
    'WORK.sh': `[ "$n" != 9 ] || sleep 1000
[ "$n" != 2 ] || exit 3
echo "<result>$n</result>"`,
  });
  await killedAt('"main_work5","result"', 'joined', [], 'joined');
}

/**
 * A run with children in worktrees: with a commit, with changes, without work, failed, and stopped. It
 * was killed while another one worked. Before, a question had no answer, and one had.
 */
async function worktrees() {
  write('worktrees', {
    'START.sh': `echo '<ask next="LAST" timeout="1s" timeout_next="FORK">Is anybody there?</ask>'`,
    'FORK.sh': `for n in done draft clean failed; do echo "<fork worktree='$n' n='$n'>WORK</fork>"; done
echo '<join failed_next="RACE">RACE</join>'`,
    'WORK.sh': `case $n in
done) git commit -q --allow-empty -m work ;;
draft) echo draft >draft.txt ;;
failed) exit 3 ;;
slow) sleep 1000 ;;
esac
echo "<result>$n</result>"`,
    'RACE.sh': `for n in fast slow; do echo "<fork worktree='$n' n='$n'>WORK</fork>"; done
echo '<join of="any">ASK</join>'`,
    'ASK.sh': `echo '<ask next="LAST">Which colour?</ask>'`,
    'LAST.sh': `echo '<fork worktree="true" n="slow">WORK</fork><join>START</join>'`,
  });
  makeRepository();
  await ends(2, 'worktrees', '--workflow-id', 'worktrees');
  await ends(0, 'answer', 'worktrees', 'blue');
  const isWorking = () =>
    processes().some(({ cwd }) => cwd === join(project, '.raymond/worktrees/worktrees/main_work7'));
  await killedWhen(isWorking, ['resume', 'worktrees'], 'worktrees');
}

/** A run that was rewound, continued, rewound again, and taken back. */
async function rewound() {
  write('rewound', {
    'START.sh': `echo '<fork n="1">WORK</fork><join>NEXT</join>'`,
    'WORK.sh': 'echo work >work.txt; echo "<result>$n</result>"',
    'NEXT.sh': `echo next >next.txt; echo '<goto>LAST</goto>'`,
    'LAST.sh': `echo '<result>done</result>'`,
  });
  makeRepository();
  await ends(0, 'rewound', '--checkpoints', 'steps', '--workflow-id', 'rewound');
  await ends(0, 'rewind', 'rewound', '--to', 'main:1', '--yes');
  await ends(0, 'resume', 'rewound');
  await ends(0, 'rewind', 'rewound', '--to', 'main:5', '--yes');
  await ends(0, 'rewind', 'rewound', '--undo', '--yes');
  await ends(0, 'rewind', 'rewound', '--to', 'main:5', '--yes');
}

/** A rehearsal in which a command of `ensures` fails, and an agent goes round in circles. */
async function checks() {
  write('checks', {
    'START.md': `---
ensures:
  - { run: "test -e green || { touch green; echo 2 tests failed; exit 3; }", say: Make it green. }
---
Work.`,
    'LOOP.md': `---
evaluators:
  - { unchanged: 3, then: { tag: goto, target: STUCK } }
---
Work again.`,
    'STUCK.md': `---
ensures:
  - { run: exit 7, on: [result], tries: 1, else: { tag: result, payload: stuck } }
---
End.`,
    'rehearsal.yaml': `answers:
  START: <goto>LOOP</goto>
  LOOP: <goto>LOOP</goto>
  STUCK: <result>done</result>`,
  });
  await ends(0, 'checks', '--rehearse', '--scripts', '--workflow-id', 'checks');
}

/** A rehearsal with a filled prompt and a handover. A script fails before the next session begins. */
async function compacted() {
  write('compacted', {
    'START.md': '---\nfill: haiku\n---\nWrite about {{subject}}.',
    'NEXT.sh': 'exit 3',
    'LAST.md': 'Go on.',
    'rehearsal.yaml': `answers:
  START: <compact input="x">NEXT</compact>
  LAST: <result>done</result>
fills:
  START: { subject: birds }
handovers:
  START: Mind the owls.`,
  });
  await ends(1, 'compacted', '--rehearse', '--scripts', '--workflow-id', 'compacted');
}

/** A run that is long enough for a snapshot. */
async function long() {
  write('long', {
    'START.sh': `n=\${RAYMOND_RESULT%%-*}
[ "\${n:-0}" -lt 15 ] || { echo '<result>long enough</result>'; exit; }
echo "<goto input='$((\${n:-0} + 1))-$(head -c 90000 /dev/zero | tr '\\0' x)'>START</goto>"`,
  });
  await ends(0, 'long', '--workflow-id', 'long');
}

/** A run of Claude Code with a reminder, evaluators, a judge, a retry, a call and a usage limit. */
async function agent() {
  const evaluated = (test, to) =>
    `evaluators:\n  - { ${test}, then: { tag: goto, target: ${to} } }`;
  const allowed = (...targets) =>
    `allowed_transitions:\n${targets.map((to) => `  - { tag: goto, target: ${to} }\n`).join('')}  - { tag: result }`;
  write('agent', {
    'START.md': `---\n${allowed('DRAFT')}\n---\nBegin.`,
    'DRAFT.md': `---\n${evaluated('matches: nothing', 'REVIEW')}\n---\nDraft it.`,
    'REVIEW.md': `---\n${evaluated('prompt: JUDGE, expect: "yes"', 'CALLER')}\n---\nReview it.`,
    'JUDGE.md': 'Is this good?\n{{output}}',
    'CALLER.md': 'Call another state.',
    'SUB.md': 'Help.',
    'LIMIT.md': 'Do more.',
    'BACK.md': 'Go back.',
  });
  const { scriptedModel } = await importTypeScript('test/real-agent/scripted-model.ts');
  const { history } = await importTypeScript('test/real-agent/model-request.ts');
  const resets = Math.ceil(Date.now() / 1000) + 3600;
  const fault = (status, type, message, headers) => ({
    fault: 'http',
    status,
    type,
    message,
    headers,
  });
  const overloaded = fault(529, 'overloaded_error', 'Overloaded');
  const limited = fault(429, 'rate_limit_error', 'This request would exceed your limit', {
    'anthropic-ratelimit-unified-status': 'rejected',
    'anthropic-ratelimit-unified-reset': String(resets),
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-overage-status': 'rejected',
  });
  const spent = { input_tokens: 10_000, output_tokens: 20, cache_read_input_tokens: 500 };
  const replies = [
    ['did not end this step', '<goto>DRAFT</goto>'],
    ['Begin.', 'I begin.'],
    ['Draft it.', overloaded, 'There is nothing. <result>nothing</result>'],
    ['Is this good?', '<result>no</result>'],
    ['Review it.', 'Looks good. <goto>BACK</goto>'],
    ['Call another state.', '<call return="BACK">SUB</call>'],
    ['Help.', '<goto>LIMIT</goto>'],
    ['Do more.', limited],
  ];
  const model = await scriptedModel((request) => {
    const said = history(request).findLast(({ role }) => role === 'user')?.text ?? '';
    const reply = replies.find(([prompt]) => said.includes(prompt));
    const next = reply && (reply.length > 2 ? reply.splice(1, 1)[0] : reply[1]);
    if (next === undefined) throw new Error(`Nothing is scripted for: ${said}`);
    return typeof next === 'string' ? { content: next, usage: spent } : next;
  });
  const world = worldOf(model);
  try {
    const options = ['--workflow-id', 'agent', '--no-wait', '--model', 'sonnet'];
    await endsIn(world, 2, 'agent', ...options);
    await endsIn(world, 2, 'resume', 'agent', '--budget', '20');
  } finally {
    await model.close();
  }
}

/** What Claude Code needs to talk to a scripted model. */
function worldOf(model) {
  const folder = readdirSync(agents).find((name) => name.startsWith('claude-newer-'));
  return {
    RAYMOND_CLAUDE: join(agents, folder ?? '', 'claude'),
    RAYMOND_RETRY_PAUSES_MS: '1,1,1',
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    ANTHROPIC_BASE_URL: model.url,
    // Only subscribers get reports of limits.
    CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  };
}

/** A run whose agent of Claude Code was told something during its turn, and heard it. */
async function spoken() {
  write('spoken', { 'START.md': 'Work.' });
  const { scriptedModel } = await importTypeScript('test/real-agent/scripted-model.ts');
  let release = () => {};
  const after = new Promise((resolve) => {
    release = resolve;
  });
  const model = await scriptedModel((request) =>
    JSON.stringify(request.messages).includes('in blue')
      ? '<result>painted in blue</result>'
      : { content: 'I begin. <result>painted</result>', after },
  );
  try {
    const run = endsIn(worldOf(model), 0, 'spoken', '--workflow-id', 'spoken');
    await model.arrived(1);
    await ends(0, 'say', 'spoken', 'Paint it in blue.');
    release();
    await run;
  } finally {
    await model.close();
  }
}

/**
 * A run whose agent asked for permissions: one call is allowed for the run, one is denied, one was
 * withdrawn, and one still waits. The agent is not a real one.
 */
async function permissions() {
  write('permissions', { 'START.md': 'Work.' });
  const request = (command, more = {}) => ({ tool_name: 'Bash', input: { command }, ...more });
  const rules = [{ toolName: 'Bash', ruleContent: 'git push *' }];
  const world = {
    RAYMOND_CLAUDE: join(root, 'test/real-agent/fake-claude.js'),
    FAKE_CLAUDE: 'asks permission',
    FAKE_CLAUDE_REQUESTS: JSON.stringify([
      request('git push', {
        permission_suggestions: [{ type: 'addRules', behavior: 'allow', rules }],
      }),
      request('git push --force'),
      request('true', { cancel: true }),
      { tool_name: 'AskUserQuestion', input: { questions: [{ question: 'Which colour?' }] } },
    ]),
  };
  const options = ['--workflow-id', 'permissions', '--ask-permissions'];
  await endsIn(world, 2, 'permissions', ...options);
  const journal = readFileSync(join(project, '.raymond/state/permissions.jsonl'), 'utf8');
  const events = journal
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const asked = events.filter(({ type }) => type === 'permission-asked');
  const [first, second] = asked.map((event) => event.request);
  await ends(0, 'answer', 'permissions', 'allow-run', '--request', first);
  await ends(0, 'answer', 'permissions', 'deny', 'not by force', '--request', second);
  await endsIn(world, 2, 'resume', 'permissions');
  await ends(0, 'stop', 'permissions', '--now');
}

/** A question that one of two people has signed an answer to. */
async function signed() {
  write('signed', {
    'START.sh': `echo '<ask of="2" to="release" next="GO">Release 2.0?</ask>'`,
    'GO.sh': 'echo "<result>$RAYMOND_RESULT</result>"',
  });
  const lists = join(home, '.config/raymond/approvers');
  mkdirSync(lists, { recursive: true, mode: 0o700 });
  const key = join(home, 'ann');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann', '-f', key]);
  const list = `ann@example.com ${readFileSync(`${key}.pub`, 'utf8')}`;
  writeFileSync(join(lists, 'release'), list, { mode: 0o600 });
  await ends(2, 'signed', '--workflow-id', 'signed');
  await ends(0, 'answer', 'signed', 'yes', '--sign', key);
  await ends(2, 'resume', 'signed');
}

const RUNS = {
  question,
  killed,
  asked,
  joined,
  worktrees,
  rewound,
  checks,
  compacted,
  long,
  agent,
  permissions,
  signed,
  spoken,
};

function makeRepository() {
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['config', 'user.name', 'x'],
    ['config', 'user.email', 'x@example.com'],
    ['commit', '-q', '--allow-empty', '-m', 'first'],
  ])
    execFileSync('git', args, { cwd: project });
}

function write(workflow, states) {
  mkdirSync(join(project, workflow), { recursive: true });
  for (const [name, text] of Object.entries(states))
    writeFileSync(join(project, workflow, name), `${text}\n`);
}

const ends = (code, ...args) => endsIn({}, code, ...args);

async function endsIn(world, expected, ...args) {
  const child = start(world, args);
  const [code] = await once(child, 'close');
  if (code !== expected) throw new Error(`raymond ${args.join(' ')}: ${code}, not ${expected}`);
}

/** Kills it when its journal holds a text, and a while later what it had started. */
function killedAt(text, workflow, options, run, meanwhile) {
  const journal = join(project, '.raymond/state', `${run}.jsonl`);
  const isWritten = () => existsSync(journal) && readFileSync(journal, 'utf8').includes(text);
  return killedWhen(isWritten, [workflow, ...options, '--workflow-id', run], run, meanwhile);
}

async function killedWhen(isTime, args, run, meanwhile = async () => {}) {
  const child = start({}, args);
  while (!isTime()) await delay(20);
  while (!isShown(run)) await delay(20);
  child.kill('SIGKILL');
  await once(child, 'close');
  await meanwhile();
  for (const { pid, cwd } of processes()) if (isInProject(cwd)) process.kill(pid, 'SIGKILL');
}

/** Whether the state file shows the newest event of the journal. */
function isShown(run) {
  const state = join(project, '.raymond/state', run);
  const newest = readFileSync(`${state}.jsonl`, 'utf8').split('\n').at(-2);
  const { at } = JSON.parse(newest ?? '{}');
  const shown = JSON.parse(readFileSync(`${state}.json`, 'utf8'));
  return Date.parse(shown.updated_at) === at;
}

const isInProject = (cwd) => cwd === project || cwd.startsWith(`${project}/`);

/** Everything that works in the project. */
function processes() {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [{ pid: Number(pid), cwd: readlinkSync(`/proc/${pid}/cwd`) }];
    } catch {
      return [];
    }
  });
}

function start(world, args) {
  const { PATH } = process.env;
  return spawn(process.execPath, [bin, ...args], {
    cwd: project,
    env: { PATH, HOME: home, ...world },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** The journal, the state file, and the place of the newest snapshot, as they are beside each other. */
function keep(run) {
  const state = join(project, '.raymond/state');
  for (const ending of ['json', 'jsonl', 'snapshot']) {
    const [file, kept] = [join(state, `${run}.${ending}`), join(into, `${run}.${ending}`)];
    if (!existsSync(file)) continue;
    const isLarge = ending === 'jsonl' && readFileSync(file).length > 100_000;
    if (isLarge) writeFileSync(`${kept}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    else copyFileSync(file, kept);
  }
  if (run !== 'asked') return;
  const steps = join(project, '.raymond/runs', run, 'steps');
  rmSync(join(into, `${run}.steps`), { recursive: true, force: true });
  cpSync(steps, join(into, `${run}.steps`), { recursive: true });
}

const user = join(home, '.local/state/raymond');

/** A run that is added belongs to the same user as the others. */
function useKept() {
  const kept = join(into, 'user');
  if (!existsSync(kept)) return;
  cpSync(kept, user, { recursive: true });
  const heads = readdirSync(join(user, 'heads')).map((id) => join('heads', id));
  for (const name of ['key', ...heads]) chmodSync(join(user, name), 0o600);
  for (const folder of ['.', 'heads']) chmodSync(join(user, folder), 0o700);
}

/** The key of the user, and the ends of the journals. Releases before version 3 have no ends. */
function keepUser() {
  if (existsSync(join(user, 'heads'))) cpSync(user, join(into, 'user'), { recursive: true });
}

mkdirSync(into, { recursive: true });
mkdirSync(join(project, '.git'), { recursive: true });
if (positionals.length > 0) useKept();
try {
  for (const name of positionals.length > 0 ? positionals : Object.keys(RUNS)) {
    await RUNS[name]();
    keep(name);
    console.log(`${join(into, name)}.jsonl`);
  }
  keepUser();
} finally {
  rmSync(project, { recursive: true, force: true });
  rmSync(home, { recursive: true, force: true });
}
