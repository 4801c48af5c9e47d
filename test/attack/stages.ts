/**
 * Runs that an attacker can meet, and the moments at which they are met. A script or an agent of every
 * run waits for the file `go`, so that the attacker acts while it works.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../eventually.ts';
import type { Ended, Project, Started } from '../raymond.ts';
import { killSteps } from '../survivors.ts';
import { writeZip } from '../zip-writer.ts';

export const MOMENTS = [
  'while a step runs',
  'while Raymond is dead',
  'while Raymond and its steps are dead',
  'between two commands',
] as const;
export type Moment = (typeof MOMENTS)[number];

export type StageName = keyof typeof STAGES;

/** A run named `r` in a project of its own. */
export interface Staged {
  readonly stage: StageName;
  readonly project: Project;
  readonly moment: Moment;
  /** What a forged result says. */
  readonly token: string;
  /** The file that a payload creates. */
  readonly mark: string;
  /** A file beside the project, which no agent reaches. */
  beside(name: string): string;
  /** The output of all commands so far. */
  readonly said: Said[];
}

/** What one command said. */
export interface Said {
  readonly args: readonly string[];
  readonly isLooking: boolean;
  readonly hasEnded: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

interface Stage {
  readonly files: (staged: Staged) => Readonly<Record<string, string>>;
  readonly prepare?: (staged: Staged) => Promise<void>;
  readonly args: readonly string[];
  /** So many steps are taken when the run stops between two commands. */
  readonly steps: number;
  /** The expected result. */
  readonly result: string;
  /** What the person does when the run waits: before the attacker acts, unless Raymond works. */
  readonly person?: (staged: Staged) => Promise<void>;
}

const WAIT = (staged: Staged, then: string, ready = 'ready') =>
  `touch '${staged.beside(ready)}'\nuntil [ -e '${staged.beside('go')}' ]; do sleep 0.02; done\n${then}`;
const END = (staged: Staged) =>
  `echo x >> '${staged.beside('ends')}'\necho '<result>fine</result>'`;
const payload = ({ mark, token }: Staged) => `touch '${mark}'\necho '<result>${token}</result>'`;

/** Every workflow has a twin with files of the same names, all of which are payloads. */
function withTwin(staged: Staged, states: Readonly<Record<string, string>>) {
  const files: Record<string, string> = {
    'evil/START.sh': payload(staged),
    'begun/START.sh': `echo '<goto>GO</goto>'`,
    'begun/GO.sh': payload(staged),
  };
  for (const [name, text] of Object.entries(states)) {
    files[`flow/${name}`] = text;
    files[`evil/${name.replace('.md', '.sh')}`] = payload(staged);
  }
  return files;
}

const twoAgents = (staged: Staged) => ({
  'START.sh': `echo '<fork next="WAIT">OTHER</fork>'`,
  'OTHER.sh': `echo '<result>other</result>'`,
  'WAIT.sh': WAIT(staged, `echo '<goto>END</goto>'`),
  'END.sh': END(staged),
});

export const STAGES = {
  /** Two agents; one waits in a script. */
  scripts: {
    files: (staged) => withTwin(staged, twoAgents(staged)),
    args: ['flow'],
    steps: 3,
    result: 'fine',
  },
  /** An older run had the same id. */
  again: {
    files: (staged) => withTwin(staged, twoAgents(staged)),
    prepare: async (staged) => {
      const { project, beside } = staged;
      await say(staged, ['begun', '--workflow-id', 'r', '--max-iterations', '1']);
      copyFileSync(project.path('.raymond/state/r.jsonl'), beside('older journal'));
      await say(staged, ['prune', 'r']);
      staged.said.length = 0;
    },
    args: ['flow'],
    steps: 3,
    result: 'fine',
  },
  /** The journal has a snapshot. */
  large: {
    files: (staged) =>
      withTwin(staged, {
        ...twoAgents(staged),
        'START.sh': `echo "<goto input='$(head -c 1200000 /dev/zero | tr '\\0' x)'>WAIT</goto>"`,
      }),
    args: ['flow'],
    steps: 2,
    result: 'fine',
  },
  /** An agent waits in a prompt, in its second turn. */
  prompts: {
    files: (staged) =>
      withTwin(staged, {
        // They name what they reach. So both turns have the same rules, and one process takes them.
        'START.md': 'Begin, then answer <goto>WAIT</goto>.',
        'WAIT.md': 'Wait, then answer <goto>END</goto>.',
        'END.sh': END(staged),
      }),
    args: ['flow'],
    steps: 2,
    result: 'fine',
  },
  /** One agent asks a person for the second time; the other waits in a script. */
  questions: {
    files: (staged) =>
      withTwin(staged, {
        'START.sh': `echo '<ask next="MORE">First?</ask>'`,
        'MORE.sh': `echo '<fork next="ASK">WAIT</fork>'`,
        'WAIT.sh': WAIT(staged, `echo '<result>other</result>'`),
        'ASK.sh': `echo '<ask next="END">Second?</ask>'`,
        'END.sh': `echo x >> '${staged.beside('ends')}'\necho "<result>$RAYMOND_RESULT</result>"`,
      }),
    prepare: async (staged) => {
      await say(staged, ['flow', '--workflow-id', 'r']);
      await say(staged, ['answer', 'r', 'yes, the first']);
      const [letter] = filesBelow(staged.project.path('.raymond/runs/r/inbox'));
      if (letter !== undefined) copyFileSync(letter, staged.beside('older letter'));
    },
    args: ['resume', 'r'],
    steps: 0,
    result: 'no',
    person: (staged) => say(staged, ['answer', 'r', 'no']),
  },
  /** The scripts come from an archive. */
  archive: {
    files: (staged) => withTwin(staged, twoAgents(staged)),
    prepare: async (staged) => {
      const parts = Object.entries(twoAgents(staged)).map(([name, content]) => ({ name, content }));
      writeFileSync(staged.project.path('flow.zip'), writeZip(parts));
    },
    args: ['flow.zip'],
    steps: 3,
    result: 'fine',
  },
  /** A child waits in a worktree, and Raymond records files around every step. */
  repository: {
    files: (staged) => ({
      ...withTwin(staged, {
        'START.sh': `echo '<fork next="WAIT" worktree="true">TREE</fork>'`,
        'TREE.sh': WAIT(staged, `touch made; echo '<result>other</result>'`, 'tree is ready'),
        'WAIT.sh': WAIT(staged, `echo '<goto>END</goto>'`),
        'END.sh': END(staged),
      }),
      'file.txt': 'text',
    }),
    prepare: async ({ project }) => {
      for (const folder of ['.', 'twin']) {
        execFileSync('git', ['init', '-q', folder], { cwd: project.folder });
        const git = ['-c', 'user.name=x', '-c', 'user.email=x@x', '-C', folder];
        const commit = [...git, 'commit', '-q', '--allow-empty', '-m', 'first'];
        if (folder === '.')
          execFileSync('git', [...git, 'add', 'file.txt', 'flow', 'evil'], { cwd: project.folder });
        execFileSync('git', commit, { cwd: project.folder });
      }
    },
    args: ['flow', '--checkpoints', 'steps'],
    steps: 3,
    result: 'fine',
  },
  /** The person has approved a command of the project's config file, and before that another one. */
  config: {
    files: (staged) => withTwin(staged, twoAgents(staged)),
    prepare: async (staged) => {
      for (const file of [staged.mark, staged.beside('events')]) {
        staged.project.write('.raymond/config.toml', configWith(file));
        await say(staged, ['trust', '--yes']);
      }
    },
    args: ['flow'],
    steps: 3,
    result: 'fine',
  },
} as const satisfies Readonly<Record<string, Stage>>;

/** A program that is started for every event. */
export const configWith = (file: string) => `[raymond]\non_event = "cat >> '${file}'"\n`;

const FAKE_CLAUDE = join(import.meta.dirname, '..', 'real-agent', 'fake-claude.js');

function agentOf(staged: Staged): Record<string, string> {
  return {
    RAYMOND_CLAUDE: FAKE_CLAUDE,
    FAKE_CLAUDE: 'obeys a command',
    FAKE_CLAUDE_COMMAND: `if grep -q Begin; then echo '<goto>WAIT</goto>'; exit; fi\n${WAIT(staged, `cat '${staged.beside('go')}'`)}`,
    FAKE_CLAUDE_LOG: staged.beside('agent.log'),
  };
}

/** Makes the run, lets the attacker act at the moment, and continues the run afterwards. */
export async function meet(staged: Staged, attack: () => void): Promise<void> {
  const { project, moment } = staged;
  const { args, person, steps }: Stage = STAGES[staged.stage];
  await setUp(staged);
  switch (moment) {
    case 'while a step runs': {
      const started = begin(staged);
      await untilReady(staged, started);
      attack();
      release(staged);
      staged.said.push(await heard(args, started));
      await person?.(staged);
      await say(staged, ['resume', 'r']);
      break;
    }
    case 'while Raymond is dead':
    case 'while Raymond and its steps are dead': {
      const started = begin(staged);
      await untilReady(staged, started);
      started.child.kill('SIGKILL');
      await started.ended;
      if (moment === 'while Raymond and its steps are dead') killSteps(project.folder);
      await person?.(staged);
      attack();
      const resumed = project.start(['resume', 'r'], { env: agentOf(staged) });
      await Promise.race([
        resumed.ended,
        eventually('the run continues', () => resumed.stderr().includes('continues')),
      ]);
      release(staged);
      staged.said.push(await heard(['resume', 'r'], resumed));
      break;
    }
    case 'between two commands':
      await stopBetween(staged);
      attack();
      await say(staged, ['resume', 'r', ...(steps > 0 ? ['--max-iterations', '99'] : [])]);
  }
  await say(staged, ['show', 'r'], true);
  await say(staged, ['list'], true);
}

/** Writes the project, and does what comes before the run. */
export async function setUp(staged: Staged): Promise<void> {
  const stage: Stage = STAGES[staged.stage];
  for (const [path, text] of Object.entries(stage.files(staged))) staged.project.write(path, text);
  await stage.prepare?.(staged);
}

/** Carries out the run until it stops between two commands. */
export async function stopBetween(staged: Staged): Promise<void> {
  const { steps, person }: Stage = STAGES[staged.stage];
  release(staged);
  await begin(staged, ...(steps > 0 ? ['--max-iterations', String(steps)] : [])).ended;
  await person?.(staged);
}

function begin(staged: Staged, ...more: string[]): Started {
  const { args }: Stage = STAGES[staged.stage];
  const named = args[0] === 'resume' ? [] : ['--workflow-id', 'r'];
  return staged.project.start([...args, ...named, ...more], { env: agentOf(staged) });
}

/** The step that waits may go on. An agent answers with the text, if there is one. */
export function release(staged: Staged, answer = '<goto>END</goto>'): void {
  writeFileSync(staged.beside('go'), answer);
}

async function untilReady(staged: Staged, started: Started): Promise<void> {
  await Promise.race([
    started.ended,
    eventually('a step waits', () => existsSync(staged.beside('ready')) && isAtRest(staged)),
  ]);
}

/** All files that belong to the moment exist. */
function isAtRest({ stage, project, beside }: Staged): boolean {
  const text = project.lines('.raymond/state/r.jsonl').join('\n');
  switch (stage) {
    case 'questions':
      return text.includes('Second?');
    case 'scripts':
    case 'again':
    case 'archive':
    case 'config':
      return text.includes('"agent-ended"');
    case 'repository':
      return existsSync(beside('tree is ready'));
    case 'prompts':
    case 'large':
      return true;
  }
}

/** Carries out a command, and keeps what it says. */
export async function say(
  staged: Staged,
  args: readonly string[],
  isLooking = false,
): Promise<void> {
  const started = staged.project.start(args, { env: agentOf(staged) });
  staged.said.push({ ...(await heard(args, started)), isLooking });
}

async function heard(args: readonly string[], started: Started): Promise<Said> {
  const ended = await Promise.race([started.ended, delay(LONGEST_MS, undefined, { ref: false })]);
  if (ended === undefined) started.child.kill('SIGKILL');
  const { stdout, stderr }: Ended = ended ?? (await started.ended);
  return { args, isLooking: false, hasEnded: ended !== undefined, stdout, stderr };
}

/** A command that waits for something that never comes counts as one that does not end. */
const LONGEST_MS = 20_000;

export function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const found = execFileSync('find', [folder, '-type', 'f'], { encoding: 'utf8' });
  return found.split('\n').filter(Boolean).sort();
}

export const besideProject = (project: Project) => (name: string) =>
  join(dirname(project.folder), name);
