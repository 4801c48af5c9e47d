/** Answers from outside: codes and signatures that should not count. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../raymond.ts';
import type { Attack } from './attack.ts';

const GO = `echo "<result>$RAYMOND_RESULT</result>"`;
const ASK = { 'flow/START.sh': `echo '<ask next="GO">Deploy?</ask>'`, 'flow/GO.sh': GO };
const SIGN = {
  'flow/START.sh': `echo '<ask of="2" to="release" next="GO">Deploy?</ask>'`,
  'flow/GO.sh': GO,
};

/** Runs the workflow until it asks, and gives the code of the notification. */
async function asked(project: Project, run: string): Promise<string> {
  const seen = join(project.userConfig, 'seen.jsonl');
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  const config = `[raymond]\non_event = "cat >>'${seen}'"\ncode_lifetime = 3600\n`;
  writeFileSync(join(project.userConfig, 'config.toml'), config, { mode: 0o600 });
  await project.run(['flow', '--workflow-id', run]);
  const notices = readFileSync(seen, 'utf8').trim().split('\n');
  const notice = notices
    .map((line) => JSON.parse(line))
    .find((one) => one.workflow_id === run && one.codes);
  return notice.codes[0].code;
}

/** What the run made of its answer. */
async function outcome(project: Project, run: string): Promise<string> {
  const { code, stdout } = await project.run(['resume', run]);
  return code === 2 ? 'not answered' : `answered: ${stdout.trim()}`;
}

const use = (project: Project, code: string, text = 'yes') =>
  project.run(['answer', '--code', code, text]);

function newKey(project: Project, name: string): string {
  const file = join(project.userConfig, name);
  mkdirSync(project.userConfig, { recursive: true, mode: 0o700 });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file]);
  return `${name} ${readFileSync(`${file}.pub`, 'utf8')}`;
}

function approvers(project: Project, ...lines: readonly string[]): string {
  const folder = join(project.userConfig, 'approvers');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'release');
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  return file;
}

const sign = (project: Project, run: string, name: string) =>
  project.run(['answer', run, 'yes', '--sign', join(project.userConfig, name)]);

export const ANSWERS: readonly Attack[] = [
  {
    name: 'control: a code answers its question',
    expected: 'answered: yes',
    files: () => ASK,
    play: async ({ project }) => {
      await use(project, await asked(project, 'r'));
      return outcome(project, 'r');
    },
  },
  {
    name: 'a forged code',
    expected: 'not answered',
    files: () => ASK,
    play: async ({ project }) => {
      const code = await asked(project, 'r');
      await use(project, code.slice(0, -1) + (code.endsWith('0') ? '1' : '0'));
      return outcome(project, 'r');
    },
  },
  {
    name: 'a code with a later time',
    expected: 'not answered',
    files: () => ASK,
    play: async ({ project }) => {
      const code = await asked(project, 'r');
      await use(project, `${code.slice(0, 4)}Z${code.slice(5)}`);
      return outcome(project, 'r');
    },
  },
  {
    name: 'an expired code',
    expected: 'not answered',
    files: () => ASK,
    play: async ({ project }) => {
      const code = await asked(project, 'r');
      const later = 'const{now}=Date;Date.now=()=>now()+2*3600000';
      const clock = `--import=data:text/javascript,${encodeURIComponent(later)}`;
      const { stderr } = await project.run(['answer', '--code', code, 'yes'], {
        env: { NODE_OPTIONS: clock },
      });
      if (!stderr.includes('This code expired')) return stderr;
      return outcome(project, 'r');
    },
  },
  {
    name: 'a code that was used before',
    expected: 'answered: yes, then exit code 64',
    files: () => ASK,
    play: async ({ project }) => {
      const code = await asked(project, 'r');
      await use(project, code);
      const first = await outcome(project, 'r');
      const { code: exit } = await use(project, code, 'no');
      return `${first}, then exit code ${exit}`;
    },
  },
  {
    name: 'a code of another run',
    expected: 'not answered',
    files: () => ASK,
    play: async ({ project }) => {
      const code = await asked(project, 'r');
      await asked(project, 's');
      await use(project, code);
      return outcome(project, 's');
    },
  },
  {
    name: 'an agent that looks for codes in the project',
    expected: 'none found',
    files: () => ASK,
    play: async ({ project }) => {
      const code = await asked(project, 'r');
      const found = execFileSync('bash', ['-c', 'grep -raF -- "$1" . || true', '-', code], {
        cwd: project.folder,
      });
      return found.length === 0 ? 'none found' : 'found';
    },
  },
  {
    name: 'control: two people sign',
    expected: 'answered: yes',
    files: () => SIGN,
    play: async ({ project }) => {
      approvers(project, newKey(project, 'ann'), newKey(project, 'bob'));
      await project.run(['flow', '--workflow-id', 'r']);
      await sign(project, 'r', 'ann');
      await sign(project, 'r', 'bob');
      return outcome(project, 'r');
    },
  },
  {
    name: 'one person signs twice, also under a second name',
    expected: 'not answered',
    files: () => SIGN,
    play: async ({ project }) => {
      const ann = newKey(project, 'ann');
      approvers(project, ann, newKey(project, 'bob'));
      await project.run(['flow', '--workflow-id', 'r']);
      await sign(project, 'r', 'ann');
      await sign(project, 'r', 'ann');
      approvers(project, ann.replace('ann', 'other'));
      await sign(project, 'r', 'ann');
      return outcome(project, 'r');
    },
  },
  {
    name: 'a signature for another run',
    expected: 'not answered',
    files: () => SIGN,
    play: async ({ project }) => {
      approvers(project, newKey(project, 'ann'), newKey(project, 'bob'));
      await project.run(['flow', '--workflow-id', 'r']);
      await project.run(['flow', '--workflow-id', 's']);
      const { stdout } = await project.run(['answer', 'r', 'yes', '--to-sign']);
      await sign(project, 's', 'ann');
      const file = join(project.userConfig, 'text');
      writeFileSync(file, stdout);
      const args = ['-q', '-Y', 'sign', '-n', 'raymond', '-f', join(project.userConfig, 'bob')];
      execFileSync('ssh-keygen', [...args, file], { stdio: 'ignore' });
      await project.run(['answer', 's', 'yes', '--signature', `${file}.sig`]);
      return outcome(project, 's');
    },
  },
  {
    name: 'an agent that adds itself to the approvers',
    expected: 'not added',
    files: () => ({
      'flow/workflow.yaml': 'rights: { network: none }\n',
      'flow/START.sh': `echo 'evil ssh-ed25519 AAAA' >>"$LIST" 2>/dev/null\necho '<result>x</result>'`,
    }),
    play: async ({ project }) => {
      const file = approvers(project, newKey(project, 'ann'));
      const { code, stderr } = await project.run(['flow', '--set', `LIST=${file}`]);
      if (code !== 0) return stderr;
      return readFileSync(file, 'utf8').includes('evil') ? 'added' : 'not added';
    },
  },
  {
    name: 'control: a script without rights adds a line to the approvers',
    expected: 'added',
    files: () => ({
      'flow/START.sh': `echo 'evil ssh-ed25519 AAAA' >>"$LIST"\necho '<result>x</result>'`,
    }),
    play: async ({ project }) => {
      const file = approvers(project, newKey(project, 'ann'));
      await project.run(['flow', '--set', `LIST=${file}`]);
      return readFileSync(file, 'utf8').includes('evil') ? 'added' : 'not added';
    },
  },
  {
    name: 'a list of approvers that the project brings',
    expected: 'not answered',
    files: () => SIGN,
    play: async ({ project }) => {
      const list = newKey(project, 'ann') + newKey(project, 'bob');
      project.write('.raymond/approvers/release', list);
      await project.run(['flow', '--workflow-id', 'r']);
      await sign(project, 'r', 'ann');
      await sign(project, 'r', 'bob');
      return outcome(project, 'r');
    },
  },
];
