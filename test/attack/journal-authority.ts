/** What an agent, another user or an old copy can make of the journals of a project. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { throwawayChain } from '../../src/journal/chain.ts';
import { encodeEvents } from '../../src/journal/journal-format.ts';
import { type JournaledEvent, type RunEvent, runEventSchema } from '../../src/model/event.ts';
import { eventually } from '../eventually.ts';
import type { Attack, Scene } from './attack.ts';

const STATE = '.raymond/state';
const JOURNAL = `${STATE}/r.jsonl`;
const FLOW = {
  'flow/START.sh': `echo '<goto>NEXT</goto>'`,
  'flow/NEXT.sh': `echo '<goto>LAST</goto>'`,
  'flow/LAST.sh': `echo '<result>done</result>'`,
};

export const JOURNAL_AUTHORITY: readonly Attack[] = [
  {
    name: 'an agent rewrites the journal of another run as version 1, and edits its script',
    expected: 'it did not run, and the person was told',
    files: () => ({ ...FLOW, 'trick/START.md': 'Do it.', 'rewrite.js': REWRITE }),
    play: async (scene) => {
      await pause(scene);
      const does = `mv .raymond rr; '${process.execPath}' rewrite.js rr/state/r.jsonl; mv rr .raymond
        echo "touch '${scene.mark}'; echo '<result>x</result>'" > flow/NEXT.sh`;
      await scene.agent({ does, answers: '<result>x</result>' }, 'trick');
      return resumed(scene, /not started by you here, or has changed/);
    },
  },
  {
    name: 'control: the same run and script, accepted by the person',
    expected: 'it ran',
    files: () => ({ ...FLOW, 'rewrite.js': REWRITE }),
    play: async (scene) => {
      await pause(scene);
      execFileSync(process.execPath, ['rewrite.js', JOURNAL], { cwd: scene.project.folder });
      scene.project.write('flow/NEXT.sh', payload(scene));
      const { stderr } = await scene.project.run(['resume', 'r', '--trust-run', ...MORE]);
      const isShown = /files +.*NEXT\.sh/.test(stderr) && stderr.includes('as they are now');
      return isShown ? scene.ran() : `not shown: ${stderr}`;
    },
  },
  {
    name: 'a line with a correct checksum appended to a journal',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({ ...FLOW, 'flow/EVIL.sh': payload(scene) }),
    play: async (scene) => {
      await pause(scene);
      append(scene, scene.project.path(JOURNAL));
      return resumed(scene, /Line \d+ of its journal was not written with your key/);
    },
  },
  {
    name: 'the last lines of a journal removed, with its state file',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({ ...FLOW, 'flow/NEXT.sh': payload(scene) }),
    play: async (scene) => {
      await pause(scene);
      rmSync(scene.mark, { force: true });
      const lines = scene.project.lines(JOURNAL);
      const start = lines.slice(0, 3).join('\n').length + 1;
      truncateSync(scene.project.path(JOURNAL), start);
      rmSync(scene.project.path(`${STATE}/r.json`));
      return resumed(scene, /Its last lines were removed, or an older copy has replaced it/);
    },
  },
  {
    name: 'an older copy of all of .raymond put back',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({
      ...FLOW,
      'flow/NEXT.sh': `touch '${scene.mark}'; echo '<goto>LAST</goto>'`,
    }),
    play: async (scene) => {
      const { project, mark } = scene;
      await pause(scene);
      cpSync(project.path('.raymond'), project.path('old'), { recursive: true });
      await project.run(['resume', 'r', '--max-iterations', '2']);
      rmSync(mark, { force: true });
      rmSync(project.path('.raymond'), { recursive: true });
      cpSync(project.path('old'), project.path('.raymond'), { recursive: true });
      return resumed(scene, /Its last lines were removed, or an older copy has replaced it/);
    },
  },
  {
    name: 'a removed run put back',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({ ...FLOW, 'flow/NEXT.sh': payload(scene) }),
    play: async (scene) => {
      await removeAndRestore(scene);
      return resumed(scene, /heads does not know it/);
    },
  },
  {
    name: 'a removed run put in the place of a new run with its id',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({ ...FLOW, 'flow/NEXT.sh': payload(scene) }),
    play: async (scene) => {
      await removeAndRestore(scene, ['flow', '--workflow-id', 'r', '--max-iterations', '1']);
      return resumed(scene, /heads does not know it/);
    },
  },
  {
    name: 'a journal that belongs to another user, accepted with --trust-run',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({ ...FLOW, 'flow/NEXT.sh': payload(scene) }),
    play: async (scene) => {
      await pause(scene);
      chownSync(scene.project.path(JOURNAL), NOBODY, NOBODY);
      return resumed(scene, /it belongs to another user/, '--trust-run');
    },
  },
  {
    name: 'another user who holds a journal open, and appends after the person has accepted it',
    expected: 'it did not run',
    files: (scene) => ({ ...FLOW, 'flow/EVIL.sh': payload(scene) }),
    play: async (scene) => {
      const { project } = scene;
      await pause(scene, THEIRS(scene));
      await whileHeldOpen(project.path(JOURNAL), async (say) => {
        await project.run(['resume', 'r', '--trust-run', '--max-iterations', '1']);
        const forged = join(dirname(project.folder), 'forged');
        append(scene, forged);
        say(readFileSync(forged));
        await eventually(
          'it is written',
          () => statSync(`${project.path(JOURNAL)}.old-1`).size > 0,
        );
      });
      await project.run(['resume', 'r', ...MORE]);
      return scene.ran();
    },
  },
  {
    name: 'a journal with a second name that the agent may edit, accepted with --trust-run',
    expected: 'it did not run, and the person was told',
    files: (scene) => ({ ...FLOW, 'flow/NEXT.sh': payload(scene) }),
    play: async (scene) => {
      await pause(scene);
      linkSync(scene.project.path(JOURNAL), scene.project.path('notes.txt'));
      return resumed(scene, /it has a second name \(a hard link\)/, '--trust-run');
    },
  },
  {
    name: 'control: the second names that a killed Raymond leaves',
    expected: 'it ran',
    files: (scene) => ({ ...FLOW, 'flow/NEXT.sh': payload(scene) }),
    play: async (scene) => {
      await pause(scene);
      const journal = scene.project.path(JOURNAL);
      linkSync(journal, `${journal}.old-1`);
      linkSync(journal, scene.project.path(STATE, '.r.jsonl.0123abcd.tmp'));
      await scene.project.run(['resume', 'r', ...MORE]);
      return scene.ran();
    },
  },
  {
    name: 'an unfinished rewind of a stranger, resumed',
    expected: 'the work is still there',
    files: () => ({
      ...FLOW,
      'flow/START.sh': `echo first > work; echo '<goto>NEXT</goto>'`,
      'flow/NEXT.sh': `echo second > work; echo '<goto>LAST</goto>'`,
    }),
    play: async (scene) => {
      await unfinishedRewind(scene);
      const { project } = scene;
      await project.run(['resume', 'r']);
      await project.run(['resume', '--all']);
      await project.run(['rewind', 'r', '--to', 'main:1', '--yes']);
      const isThere = project.read('work') === 'of days\n';
      return isThere ? 'the work is still there' : `lost: ${project.read('work')}`;
    },
  },
  {
    name: 'control: the same rewind, accepted by the person',
    expected: 'first',
    files: () => ({
      ...FLOW,
      'flow/START.sh': `echo first > work; echo '<goto>NEXT</goto>'`,
      'flow/NEXT.sh': `cp work seen; echo '<result>x</result>'`,
    }),
    play: async (scene) => {
      await unfinishedRewind(scene);
      const { stderr } = await scene.project.run(['resume', 'r', '--trust-run', ...MORE]);
      if (!stderr.includes('with earlier ones')) return `not shown: ${stderr}`;
      return scene.project.read('seen').trim();
    },
  },
  {
    name: 'an untrusted config file writes its log into a journal',
    expected: 'unharmed',
    files: () => FLOW,
    play: async (scene) => {
      await pause(scene);
      const before = scene.project.read(JOURNAL);
      scene.project.write('.raymond/config.toml', `[raymond]\nlog_file = "${JOURNAL}"\n`);
      await scene.project.run(['flow']);
      return scene.project.read(JOURNAL) === before ? 'unharmed' : 'damaged';
    },
  },
  ...(['the journal itself', 'a link', 'a hard link', 'a folder that is a link'] as const).map(
    (way): Attack => ({
      name: `a log file that is ${way}`,
      expected: 'refused, unharmed',
      files: () => FLOW,
      play: async (scene) => {
        await pause(scene);
        const { project } = scene;
        const before = project.read(JOURNAL);
        if (way === 'a link') execFileSync('ln', ['-s', JOURNAL, 'log'], { cwd: project.folder });
        if (way === 'a hard link') linkSync(project.path(JOURNAL), project.path('log'));
        if (way === 'a folder that is a link')
          execFileSync('ln', ['-s', STATE, 'logs'], { cwd: project.folder });
        const names = { 'the journal itself': JOURNAL, 'a folder that is a link': 'logs/r.jsonl' };
        const file = way in names ? names[way as keyof typeof names] : 'log';
        const { code } = await project.run(['flow', '--log-file', file]);
        const harm = project.read(JOURNAL) === before ? 'unharmed' : 'damaged';
        return `${code === 0 ? 'accepted' : 'refused'}, ${harm}`;
      },
    }),
  ),
];

const NOBODY = 65534;
const MORE = ['--max-iterations', '9'];
const THEIRS = ({ project }: Scene) => ({
  XDG_STATE_HOME: join(dirname(project.folder), 'theirs'),
});

const payload = ({ mark }: Scene) => `touch '${mark}'; echo '<result>x</result>'`;

/** A run that stops after its first step. */
async function pause({ project, mark }: Scene, env: Record<string, string> = {}): Promise<void> {
  await project.run(['flow', '--workflow-id', 'r', '--max-iterations', '1'], { env });
  rmSync(mark, { force: true });
}

async function resumed(
  { project, ran }: Scene,
  told: RegExp,
  ...options: readonly string[]
): Promise<string> {
  const { stderr } = await project.run(['resume', 'r', ...MORE, ...options]);
  const isTold = told.test(stderr) ? 'and the person was told' : `and said: ${stderr}`;
  return `${ran()}, ${isTold}`;
}

/** Adds an event that sends the agent to another state. */
function append({ project }: Scene, file: string): void {
  const events = project.journal('r');
  const forged: RunEvent = runEventSchema.parse({
    ...{ type: 'agent-moved', at: Date.now(), agent: 'main', tag: 'reset', state: 'EVIL.sh' },
    ...{ workflow: project.path('flow'), cwd: project.folder, session: {}, stack: {} },
    ...moveOf(events),
    state: 'EVIL.sh',
  });
  const lines = linesOf([forged], (events.at(-1)?.seq ?? 0) + 1);
  writeFileSync(file, lines, { flag: 'a', mode: 0o600 });
}

const linesOf = (events: readonly RunEvent[], firstSeq: number) =>
  encodeEvents(events, firstSeq, throwawayChain());

const moveOf = (events: readonly JournaledEvent[]) =>
  events.findLast(({ type }) => type === 'agent-moved') ?? {};

async function removeAndRestore({ project, mark }: Scene, next?: readonly string[]) {
  await project.run(['flow', '--workflow-id', 'r', '--max-iterations', '1']);
  cpSync(project.path('.raymond'), project.path('old'), { recursive: true });
  await project.run(['prune', 'r']);
  if (next) await project.run(next);
  rmSync(project.path('.raymond'), { recursive: true });
  cpSync(project.path('old'), project.path('.raymond'), { recursive: true });
  rmSync(mark, { force: true });
}

/** Another user opens the file while they may, and keeps it open. */
async function whileHeldOpen(
  file: string,
  then: (say: (bytes: Buffer) => void) => Promise<void>,
): Promise<void> {
  for (let folder = dirname(file); folder !== '/'; folder = dirname(folder))
    chmodSync(folder, statSync(folder).mode | 0o011);
  chownSync(file, NOBODY, NOBODY);
  const [user, group] = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`];
  const command = 'exec 3>>"$0"; echo open; cat >&3; echo written';
  const holder = spawn('setpriv', [user, group, '--clear-groups', 'sh', '-c', command, file]);
  let said = '';
  holder.stdout.on('data', (text) => {
    said += text;
  });
  try {
    await eventually('it is open', () => said.includes('open'));
    chownSync(file, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    await then((bytes) => holder.stdin.end(bytes));
    await eventually('it is written', () => said.includes('written'));
  } finally {
    holder.kill('SIGKILL');
  }
}

/** A stranger rewound a run, and was killed before the files returned. Then the person works there. */
async function unfinishedRewind(scene: Scene): Promise<void> {
  const { project } = scene;
  rmSync(project.path('.git'), { recursive: true });
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['config', 'user.name', 'x'],
    ['config', 'user.email', 'x@example.com'],
    ['add', 'flow'],
    ['commit', '-q', '-m', 'first'],
  ])
    execFileSync('git', args, { cwd: project.folder });
  const env = THEIRS(scene);
  const recorded = ['--checkpoints', 'steps', '--max-iterations', '2'];
  await project.run(['flow', '--workflow-id', 'r', ...recorded], { env });
  await project.run(['rewind', 'r', '--to', 'main:2', '--yes'], { env });
  const events = project.journal('r').filter(({ type }) => type !== 'files-restored');
  if (!existsSync(project.path('work')) || events.at(-1)?.type !== 'run-rewound')
    throw new Error(`There was no rewind: ${events.map(({ type }) => type).join(' ')}`);
  rmSync(project.path(`${STATE}/r.json`));
  writeFileSync(project.path(JOURNAL), linesOf(events, 1));
  project.write('work', 'of days\n');
}

/** The journal as the first release would have written it: without numbers and checksums. */
const REWRITE = `const fs = require('node:fs');
const [file] = process.argv.slice(2);
const events = fs.readFileSync(file, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
const old = events.filter(({ type }) => type !== 'workflow-read' && type !== 'snapshot')
  .map(({ seq, chain, mac, crc, cost, ...event }) => {
    if (cost) event.costUsd = cost.usd;
    if (event.type !== 'run-started') return event;
    const { agent, ...settings } = event.settings;
    return { ...event, version: 1, settings: { ...settings, ...agent } };
  });
fs.rmSync(file.replace('.jsonl', '.json'), { force: true });
fs.writeFileSync(file, old.map((event) => JSON.stringify(event) + '\\n').join(''), { mode: 0o600 });
`;
