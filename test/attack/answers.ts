/** Answers from outside: codes and signatures that should not count. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deliver, githubHeaders, startUp } from '../hooks/up.ts';
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

const SECRET = 'the secret of answers';

/** Asks, and sends deliveries to `/answers` of `raymond up`. Gives the outcome of the run and all replies. */
async function throughWebhook(
  project: Project,
  deliveries: (code: string) => readonly { readonly body: string; readonly secret?: string }[],
  env: Record<string, string> = {},
): Promise<string> {
  const code = await asked(project, 'r');
  const config = join(project.userConfig, 'config.toml');
  appendFileSync(config, 'answers_secret = "ANSWERS"\n');
  await project.run(['secret', 'set', 'ANSWERS'], { input: SECRET });
  const { address, end } = await startUp(project, [], { env });
  const replies: string[] = [];
  for (const { body, secret = SECRET } of deliveries(code))
    replies.push(await deliver(`${address}/answers`, body, githubHeaders(secret, 'd', body)));
  await end();
  return `${replies.join(', ')}: ${await outcome(project, 'r')}`;
}

const brought = (code: string, text = 'yes') => JSON.stringify({ code, text });

const LATER = 'const{now}=Date;Date.now=()=>now()+2*3600000';
const LATER_CLOCK = `--import=data:text/javascript,${encodeURIComponent(LATER)}`;

const changed = (code: string) => code.slice(0, -1) + (code.endsWith('0') ? '1' : '0');

/** Codes that a webhook brings. */
const BROUGHT: readonly Attack[] = [
  {
    name: 'control: a signed webhook brings a code',
    expected: '200 answered: answered: yes',
    files: () => ASK,
    play: ({ project }) => throughWebhook(project, (code) => [{ body: brought(code) }]),
  },
  {
    name: 'a webhook with a forged signature brings a right code',
    expected: '401 refused: not answered',
    files: () => ASK,
    play: ({ project }) =>
      throughWebhook(project, (code) => [{ body: brought(code), secret: 'guess' }]),
  },
  {
    name: 'a signed webhook brings a forged code, and guesses on',
    expected: `${Array.from({ length: 20 }, () => '404 wrong-code').join(', ')}, 429 too-many-codes: not answered`,
    files: () => ASK,
    play: ({ project }) =>
      throughWebhook(project, (code) =>
        Array.from({ length: 21 }, () => ({ body: brought(changed(code)) })),
      ),
  },
  {
    name: 'a delivery with a code is replayed, also with another answer',
    expected: '200 answered, 4xx, 4xx: answered: yes',
    files: () => ASK,
    play: async ({ project }) => {
      const seen = await throughWebhook(project, (code) => [
        { body: brought(code) },
        { body: brought(code) },
        { body: brought(code, 'no') },
      ]);
      // Which refusal it gets depends on whether the run has continued meanwhile.
      return seen.replaceAll(/4(?:04 wrong-code|09 \S+?)(?=[,:])/g, '4xx');
    },
  },
  {
    isSlow: true,
    name: 'a signed webhook brings an expired code',
    expected: '410 expired-code: not answered',
    files: () => ASK,
    play: ({ project }) =>
      throughWebhook(project, (code) => [{ body: brought(code) }], { NODE_OPTIONS: LATER_CLOCK }),
  },
  {
    isSlow: true,
    name: 'a signed webhook brings the code of another run',
    expected: '404 wrong-code: not answered',
    files: () => ASK,
    play: async ({ project }) => {
      const other = await asked(project, 'other');
      await project.run(['answer', 'other', 'no']);
      await project.run(['resume', 'other']);
      return throughWebhook(project, () => [{ body: brought(other) }]);
    },
  },
  {
    name: 'a signed webhook brings something that is no code',
    expected: '400 usage, 400 usage, 400 bad-payload: not answered',
    files: () => ASK,
    play: ({ project }) =>
      throughWebhook(project, (code) => [
        { body: JSON.stringify({ code, run: 'r' }) },
        { body: JSON.stringify([code]) },
        { body: code },
      ]),
  },
  {
    name: 'a project names the secret of answers',
    expected: '401 refused',
    files: () => ({ '.raymond/config.toml': '[raymond]\nanswers_secret = "THEIRS"\n' }),
    play: async ({ project }) => {
      const { address, end } = await startUp(project, [], { env: { THEIRS: 'theirs' } });
      const reply = await deliver(`${address}/answers`, '{}', githubHeaders('theirs', 'd', '{}'));
      await end();
      return reply;
    },
  },
];

export const ANSWERS: readonly Attack[] = [
  ...BROUGHT,
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
      await use(project, changed(code));
      return outcome(project, 'r');
    },
  },
  {
    isSlow: true,
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
      const { stderr } = await project.run(['answer', '--code', code, 'yes'], {
        env: { NODE_OPTIONS: LATER_CLOCK },
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
    isSlow: true,
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
