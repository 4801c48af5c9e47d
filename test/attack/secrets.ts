/** What agents that run no commands, or run them in a sandbox, can read of the user's secrets. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AcpName, realAgent } from '../other-agents/acp-agents.ts';
import { codexSandbox } from '../other-agents/codex-sandbox.ts';
import type { Asked, Reply, ToolCall } from '../other-agents/scripted-api.ts';
import { scriptedResponses } from '../other-agents/scripted-responses.ts';
import { type RaymondSandbox, raymondSandbox, until } from '../real-agent/raymond-sandbox.ts';
import type { Attack } from './attack.ts';

const DONE = '<result>done</result>';

export const SECRETS: readonly Attack[] = [
  {
    name: 'codex reads the key of the user, three agents at once, fresh and resumed',
    expected: 'nothing read, all worked, nothing left',
    play: async () => withCodex(3, 'acceptEdits', 'tmp'),
  },
  {
    isSlow: true,
    name: 'codex reads the key of the user, eight agents at once',
    expected: 'nothing read, all worked, nothing left',
    play: async () => withCodex(8, 'acceptEdits', 'tmp'),
  },
  {
    isSlow: true,
    name: 'codex reads the key of the user in the mode plan, from a home outside of /tmp',
    expected: 'nothing read, all worked, nothing left',
    play: async () => withCodex(2, 'plan', 'var'),
  },
  {
    isSlow: true,
    name: 'codex reads the key of the user from a home outside of /tmp',
    expected: 'nothing read, all worked, nothing left',
    play: async () => withCodex(2, 'acceptEdits', 'var'),
  },
  {
    name: 'codex is killed while its command runs',
    expected: 'nothing left',
    play: killedCodex,
  },
  {
    name: 'control: codex without a sandbox reads the key of the user',
    expected: 'read, all worked, nothing left',
    play: async () => withCodex(1, 'skip', 'tmp'),
  },
  {
    isSlow: true,
    name: 'control: codex-acp without a sandbox reads the key of the user',
    expected: 'read',
    play: async () => withAcp('codex-acp', 'command', '--dangerously-skip-permissions'),
  },
  ...(['codex-acp', 'opencode', 'claude-acp', 'gemini'] as const).flatMap((agent) =>
    (['file', 'command'] as const).flatMap((way): readonly Attack[] => {
      // Codex has no call that reads a file.
      if (agent === 'codex-acp' && way === 'file') return [];
      return [
        {
          ...(agent !== 'codex-acp' && { isSlow: true as const }),
          name: `${agent} reads the key of the user with a ${way === 'file' ? 'call' : 'command'}`,
          expected: 'nothing read',
          play: async () => withAcp(agent, way),
        },
      ];
    }),
  ),
];

/** Everything in the folder of the user, in all ways in which a command can look. */
const looking = (state: string) =>
  [
    `cat '${state}/key'`,
    `find '${state}/' -type f -exec cat {} +`,
    `cat /proc/[0-9]*/root'${state}/key'`,
    `umount '${state}'; unshare -rm sh -c "umount '${state}'; cat '${state}/key'"; cat '${state}/key'`,
  ].join('; ');

const WORKED = 'the command ended';

function shell(tools: Asked['tools'], cmd: string): ToolCall {
  return tools.includes('exec_command')
    ? { name: 'exec_command', input: { cmd } }
    : { name: 'shell_command', input: { command: cmd } };
}

/** The folder of the user is in /tmp, where codex may write, or not. */
async function withCodex(
  agents: number,
  mode: 'acceptEdits' | 'plan' | 'skip',
  home: 'tmp' | 'var',
): Promise<string> {
  const outputs: string[] = [];
  let state = '';
  const isWriting = mode !== 'plan';
  const model = await scriptedResponses(({ prompt, tools, lines }): Reply => {
    const asked = lines.filter((line) => line.startsWith('user: '));
    const [, task, number] = / in (\S+) as (\d+)\./.exec(asked.at(-1) ?? '') ?? [];
    const isResult = !/^(?:Work|Again) /.test(prompt);
    if (isResult) outputs.push(prompt);
    // Another command may take away the files of codex in the same moment. Then an agent repeats its own.
    if (isResult && !prompt.includes("bwrap: Can't"))
      return asked.length === 1 ? '<goto>AGAIN</goto>' : DONE;
    const work = isWriting ? `echo x >>made${number} && echo x >'${task}/made' &&` : '';
    const cmd = `${looking(state)}; ${work} git log --format=%s -1 && echo ${WORKED}`;
    return { text: '', tool: shell(tools, cmd) };
  });
  return inWorld(
    model,
    home,
    {
      'START.sh': `for i in $(seq ${agents}); do echo "<fork i=\\"$i\\">WORK</fork>"; done; echo '<join>AFTER</join>'`,
      'WORK.md': 'Work in {{task_folder}} as {{i}}.',
      'AGAIN.md': 'Again in {{task_folder}} as {{i}}.',
      'AFTER.sh': `echo '${DONE}'`,
    },
    async (world, folder) => {
      state = folder;
      const before = strays();
      const args =
        mode === 'skip' ? ['--dangerously-skip-permissions'] : ['--permission-mode', mode];
      const { code, stderr } = await world.run(
        'workflow',
        '--workflow-id',
        'r',
        '--agent',
        'codex',
        ...args,
      );
      if (code !== 0 || stderr.includes('failed child agent')) return `exit ${code}: ${stderr}`;
      const ended = outputs.filter((text) => text.includes(WORKED)).length;
      const made = readdirSync(world.file('.')).filter((name) => name.startsWith('made')).length;
      const worked =
        ended === agents * 2 && (!isWriting || made === agents)
          ? 'all worked'
          : `${ended} of ${agents * 2} commands ended, ${made} files`;
      return `${read(outputs, folder)}, ${worked}, ${await left(world, before)}`;
    },
  );
}

/** Whether a secret is in one of the texts that the model got. */
function read(texts: readonly string[], state: string): string {
  const key = readFileSync(join(state, 'key'), 'utf8').trim();
  const heads = join(state, 'heads');
  const others = existsSync(heads)
    ? readdirSync(heads, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    : [];
  const secrets = [
    key,
    ...others.map((one) => readFileSync(join(one.parentPath, one.name), 'utf8').trim()),
  ];
  return secrets.some((secret) => texts.some((text) => text.includes(secret.slice(0, 32))))
    ? 'read'
    : 'nothing read';
}

/** What codex puts in place of missing files. */
const strays = () =>
  ['.git', '.codex', '.agents', '.aws'].filter((name) => existsSync(join('/tmp', name)));

async function left(world: RaymondSandbox, before: readonly string[]): Promise<string> {
  const inProject = git(world, 'status', '--short')
    .split('\n')
    .filter((line) => line !== '' && !/ (?:made\d+|began|given)$/.test(line));
  // Other processes of codex on this machine put them there too, while a command runs.
  let inTmp: readonly string[] = [];
  for (let tries = 0; tries < 20; tries++) {
    inTmp = strays().filter((name) => !before.includes(name));
    if (inTmp.length === 0) break;
    await delay(500);
  }
  const found = [...inProject, ...inTmp];
  return found.length === 0 ? 'nothing left' : `left: ${found}`;
}

async function killedCodex(): Promise<string> {
  const model = await scriptedResponses(({ prompt, tools }): Reply => {
    if (!prompt.startsWith('Work')) return DONE;
    return { text: '', tool: shell(tools, 'touch began; sleep 60') };
  });
  return inWorld(model, 'tmp', { 'START.md': 'Work.' }, async (world) => {
    const before = strays();
    const started = world.start('workflow', '--workflow-id', 'r', '--agent', 'codex');
    await until(() => existsSync(world.file('began')));
    const [group] = world.processes();
    if (group === undefined) return 'no process';
    const known = world.journal('r').length;
    process.kill(-group, 'SIGKILL');
    await until(() => world.journal('r').length > known);
    started.child.kill('SIGINT');
    await started.finished;
    return left(world, before);
  });
}

async function withAcp(
  name: AcpName,
  way: 'file' | 'command',
  ...args: readonly string[]
): Promise<string> {
  const texts: string[] = [];
  let state = '';
  const call = (tools: Asked['tools']): ToolCall => {
    const path = join(state, 'key');
    const command = looking(state);
    const calls = {
      'codex-acp': { file: shell(tools, command), command: shell(tools, command) },
      opencode: {
        file: { name: 'read', input: { filePath: path } },
        command: { name: 'bash', input: { command, description: 'look' } },
      },
      'claude-acp': {
        file: { name: 'Read', input: { file_path: path } },
        command: { name: 'Bash', input: { command, description: 'look' } },
      },
      gemini: {
        file: { name: 'read_file', input: { file_path: path, absolute_path: path } },
        command: { name: 'run_shell_command', input: { command, description: 'look' } },
      },
    };
    return calls[name as keyof typeof calls][way];
  };
  const agent = await realAgent(name, ({ prompt, tools }, turn) => {
    texts.push(prompt);
    return turn === 0 ? { text: '', tool: call(tools) } : DONE;
  });
  const world = await raymondSandbox({
    age: 'newer',
    workflow: { 'START.md': 'Look.' },
    script: [],
    environment: agent.environment,
  });
  try {
    state = join(world.claude.environment.HOME ?? '', '.local/state/raymond');
    await world.run('workflow', '--workflow-id', 'r', '--agent', name, ...args);
    return texts.length < 1 ? 'nothing asked' : read(texts, state);
  } finally {
    await world.remove();
    await agent.remove();
  }
}

async function inWorld(
  model: Awaited<ReturnType<typeof scriptedResponses>>,
  home: 'tmp' | 'var',
  workflow: Readonly<Record<string, string>>,
  play: (world: RaymondSandbox, state: string) => Promise<string>,
): Promise<string> {
  const codex = await codexSandbox(model.url);
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  const other = home === 'var' ? mkdtempSync('/var/tmp/raymond-home-') : undefined;
  const world = await raymondSandbox({
    age: 'newer',
    workflow,
    script: [],
    environment: { ...environment, ...(other && { XDG_STATE_HOME: other }) },
  });
  try {
    git(world, 'init', '-q');
    git(world, 'config', 'user.name', 'x');
    git(world, 'config', 'user.email', 'x@x');
    execFileSync('sh', ['-c', 'echo .raymond >.gitignore'], { cwd: world.claude.work });
    git(world, 'add', '.');
    git(world, 'commit', '-q', '-m', 'first');
    const usual = join(world.claude.environment.HOME ?? '', '.local/state');
    return await play(world, join(other ?? usual, 'raymond'));
  } finally {
    await world.remove();
    await model.close();
    await codex.remove();
    if (other) rmSync(other, { recursive: true, force: true });
  }
}

function git({ claude }: RaymondSandbox, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: claude.work, encoding: 'utf8' });
}
