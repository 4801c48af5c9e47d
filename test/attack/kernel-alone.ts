/**
 * The attacks for which authority was moved to keys and open files, against the kernel alone: the real Claude
 * Code gets no rules from Raymond, asks nobody, and loads the settings of the project. A program in place of the
 * agent takes the rules away, so the built Raymond has no switch for it. Two of the nine are not here, because no
 * process of a step makes them: a rehearsal, and the resume of a stranger's run. The script of a stranger is
 * confined like every other one (`test/cli/rights.test.ts`).
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { shellWord } from '../../src/model/shell-word.ts';
import { type Age, claudeBinary } from '../real-agent/claude-sandbox.ts';
import { bash, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import { scriptOf, type Try } from './inside.ts';
import type { Row } from './inside-plays.ts';

const PORT = 21_000 + (process.pid % 10_000);

/** Each works where nothing confines the agent. The last one removes what the others need. */
const ATTACKS: readonly Try[] = [
  {
    name: '1: the output of another step, replaced by moving .raymond',
    code: 'mv .raymond rr && echo forged >rr/runs/other/steps/main/1/stdout; mv rr .raymond; grep -q forged .raymond/runs/other/steps/main/1/stdout',
  },
  {
    name: '2: the journal of another run, and its script',
    code: 'echo forged >.raymond/state/other.jsonl || echo forged >>workflow/NEXT.sh',
  },
  { name: '4: a program of git', code: 'git config core.fsmonitor "touch x"' },
  { name: '4: a server of opencode', code: 'echo "{}" >opencode.json' },
  { name: '4: a hook of Claude Code', code: 'echo "{}" >.claude/settings.json' },
  {
    name: '9: a port that every user of the machine can reach',
    code: `perl -e 'socket(S, 2, 1, 0); bind(S, pack("SnNx8", 2, ${PORT}, 0)) or exit 1; listen(S, 5); open F, ">", "listens"; alarm 3; accept(C, S) or exit 1; exit 0'`,
  },
  { name: '3: all journals', code: 'rm -rf .raymond; ! test -e .raymond/state/other.jsonl' },
];

export async function playKernelAlone(
  age: Age,
  options: readonly string[],
): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-bare-agent-'));
  const world = await raymondSandbox({
    age,
    workflow: {
      'START.md': '---\nrights: {}\n---\nTry. Then <goto>NEXT</goto>.',
      'NEXT.sh': 'echo "<result>tried</result>"',
    },
    script: (_, turn) => [bash('. ./attacks.sh >said')][turn] ?? '<goto>NEXT</goto>',
    environment: { RAYMOND_CLAUDE: withoutRules(folder, age) },
  });
  const { file } = world;
  const hooked = join(dirname(world.claude.work), 'hooked');
  const put = (name: string, text: string) => {
    mkdirSync(dirname(file(name)), { recursive: true, mode: 0o700 });
    writeFileSync(file(name), text, { mode: 0o600 });
  };
  try {
    put('.raymond/state/other.jsonl', '');
    put('.raymond/runs/other/steps/main/1/stdout', '');
    put('.git/HEAD', 'ref: refs/heads/main\n');
    put('.git/config', '[core]\n\trepositoryformatversion = 0\n');
    for (const name of ['objects', 'refs']) mkdirSync(file(`.git/${name}`));
    put('opencode.json', '{ "model": "x" }');
    const hook = { type: 'command', command: `echo ran >hook-ran; echo x >${shellWord(hooked)}` };
    put('.claude/settings.json', JSON.stringify({ hooks: { SessionStart: [{ hooks: [hook] }] } }));
    put('attacks.sh', scriptOf(ATTACKS));
    const visits = setInterval(() => {
      if (existsSync(file('listens')))
        connect(PORT, '127.0.0.1')
          .on('error', () => {})
          .unref();
    }, 50);
    const { stderr } = await world.run('workflow', '--workflow-id', 'r', ...options);
    clearInterval(visits);
    if (!existsSync(file('said'))) throw new Error(`The agent did nothing: ${stderr}`);
    const said = readFileSync(file('said'), 'utf8');
    return [
      ...ATTACKS.map(({ name }) => ({
        name,
        expected: 'held',
        seen:
          new RegExp(`^(held|escaped): ${name.replaceAll('.', '\\.')}$`, 'm').exec(said)?.[1] ??
          'not tried',
      })),
      {
        name: '5: hooks of a clone',
        expected: 'held',
        seen: existsSync(hooked)
          ? 'escaped'
          : existsSync(file('hook-ran'))
            ? 'held'
            : 'did not run',
      },
    ];
  } finally {
    await world.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The agent, without what Raymond tells it to refuse. */
function withoutRules(folder: string, age: Age): string {
  const program = join(folder, 'claude');
  const code = `#!/bin/bash
kept=()
while [ $# -gt 0 ]; do
  case $1 in
    --settings | --setting-sources | --permission-mode) shift 2 ;;
    --disallowedTools) shift; while [ $# -gt 0 ] && [[ $1 != --* ]]; do shift; done ;;
    -p) kept+=("$1" --dangerously-skip-permissions); shift ;;
    *) kept+=("$1"); shift ;;
  esac
done
IS_SANDBOX=1 exec ${shellWord(claudeBinary(age))} "\${kept[@]}"
`;
  writeFileSync(program, code, { mode: 0o700 });
  return program;
}
