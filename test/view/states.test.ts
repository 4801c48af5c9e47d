/** Each state in which a person may find a run, at three sizes of a real terminal. */
import { chmodSync } from 'node:fs';
import { test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { fakeClaude } from '../real-agent/fake-claude.ts';
import { type Size, TmuxTerminal } from './tmux.ts';

const SIZES = {
  '80x24': { columns: 80, rows: 24 },
  '100x30': { columns: 100, rows: 30 },
  '140x40': { columns: 140, rows: 40 },
} as const satisfies Record<string, Size>;

/** Changes a file, and answers when the test writes the file `go` or one with the name of the item. */
const AGENT = `#!/bin/bash
say() { printf '{"session_id":"S",%s}\\n' "$1"; }
says() {
  say '"type":"assistant","message":{"id":"m'$((++n))'","model":"claude-sonnet-4","usage":{"input_tokens":20000,"output_tokens":500},"content":['"$1"']}'
}
while read -r line; do
  [[ $line == *'"type":"user"'* ]] || continue
  [[ $line =~ item=([a-z0-9]+) ]] && item=\${BASH_REMATCH[1]}
  say '"type":"system","subtype":"init","model":"x","claude_code_version":"2.1.325"'
  answer='<result>fixed '$item'</result>' cost=0.25
  if [ "$item" = first ]; then
    answer='<goto>SPLIT</goto>' cost=1.2
  else
    says '{"type":"text","text":"The parser drops the last header, because its loop ends too early. I correct the bound and run the tests."}'
    says '{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"'"$PWD"'/src/'$item'.ts","old_string":"let i = 0;\\nwhile (i < n - 1) read(i++);","new_string":"let i = 0;\\nwhile (i < n) read(i++);"}}'
    say '"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"The file was changed."}]}'
    says '{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"npm test -- '"$PWD"'/src/'$item'.ts"}}'
    until [ -e go ] || [ -e go-$item ]; do sleep 0.1; done
  fi
  says '{"type":"text","text":"'"$answer"'"}'
  say '"type":"result","subtype":"success","is_error":false,"result":"'"$answer"'","total_cost_usd":'$cost',"permission_denials":[],"stop_reason":"end_turn"'
done
`;

const FIX = `---
allowed_transitions: [{ tag: result }]
---
Fix item={{input}}.`;

const forks = (items: string) =>
  `for item in ${items}; do echo "<fork item=\\"$item\\" input=\\"$item\\">FIX</fork>"; done; echo '<join>DONE</join>'`;

const DONE = `echo '<result>all is fixed</result>'`;

function agentProject(files: Readonly<Record<string, string>>): Project {
  const project = newProject({ ...files, agent: AGENT });
  chmodSync(project.path('agent'), 0o700);
  return project;
}

const agentOf = (project: Project) => ({ RAYMOND_CLAUDE: project.path('agent') });

/** The rows of the agents and all below them, in each size. Lines above them depend on the order of events. */
async function showsEachSize(terminal: TmuxTerminal, state: string, text: string, from = ROWS) {
  for (const [name, size] of Object.entries(SIZES)) {
    terminal.resize(size);
    await terminal.showsScreen(`${state}-${name}`, text, from);
  }
}

/** So many agents run their tests. */
const testing = (terminal: TmuxTerminal, count: number) =>
  eventually(`${count} agents run their tests`, () => {
    return terminal.screen().split(' Bash npm test').length - 1 === count;
  });

/** The first row of an agent. */
const ROWS = /^[ ❯] [●○↻?✗✓] /;

test('eight of eight places are busy, and nine of twelve children are open', async () => {
  const project = agentProject({
    'flow/START.sh': forks('api web docs tests login search export clock pool cache theme audit'),
    'flow/FIX.md': FIX,
    'flow/DONE.sh': DONE,
  });
  const terminal = new TmuxTerminal(project, SIZES['80x24'], agentOf(project));
  await terminal.run('raymond flow --workflow-id fixes --max-parallel 8 --budget 20');
  await terminal.shows('8 running');
  for (const item of ['web', 'tests', 'search']) {
    project.write(`go-${item}`, '');
    await terminal.shows(`fixed ${item}`);
  }
  await testing(terminal, 8);
  await showsEachSize(terminal, 'places', 'waits for a place (8 of 8 busy)');
  project.write('go', '');
  await terminal.shows('fixes completed');
  await terminal.isAsBefore();
});

test('three of six children wait for money', async () => {
  const project = agentProject({
    'flow/START.sh': `echo '<goto input="first">FIX</goto>'`,
    'flow/FIX.md': FIX.replace('}]', '}, { tag: goto, target: SPLIT }]'),
    'flow/SPLIT.sh': forks('api web docs tests login search'),
    'flow/DONE.sh': DONE,
  });
  const terminal = new TmuxTerminal(project, SIZES['80x24'], agentOf(project));
  await terminal.run('raymond flow --workflow-id fixes --budget 5');
  await testing(terminal, 3);
  await showsEachSize(terminal, 'money', 'waits for money');
  project.write('go', '');
  await terminal.shows('fixes completed');
  await terminal.isAsBefore();
});

test('calls in calls, and the conversation of an agent with its changes', async () => {
  const project = agentProject({
    'flow/START.sh': `echo '<call return="SHIP">REVIEW</call>'`,
    'flow/REVIEW.sh': `echo '<call return="VERDICT" input="header">FIX</call>'`,
    'flow/FIX.md': FIX,
    'flow/VERDICT.sh': `echo '<result>good</result>'`,
    'flow/SHIP.sh': DONE,
  });
  const terminal = new TmuxTerminal(project, SIZES['80x24'], agentOf(project));
  await terminal.run('raymond flow --workflow-id fixes');
  await showsEachSize(terminal, 'nested', 'Bash npm test');
  terminal.type('Down');
  await terminal.shows('❯');
  terminal.type('Enter');
  await showsEachSize(terminal, 'conversation', 'calls Bash npm test', /^/);
  terminal.type('Escape');
  project.write('go', '');
  await terminal.shows('fixes completed');
  await terminal.isAsBefore();
});

test('two hundred agents: failed and asking ones first, then those at work, and the rest by reason', async () => {
  const project = newProject({
    'flow/START.sh': `for part in $(seq 200); do echo "<fork part=\\"$part\\">WORK</fork>"; done; echo '<join>DONE</join>'`,
    'flow/WORK.sh': `case $part in
      4) echo '<ask next="WORK">May I drop the table?</ask>' ;;
      9) until [ -e fail ]; do sleep 0.1; done; echo 'no space left on the device' >&2; exit 3 ;;
      *) until [ -e go ]; do sleep 0.2; done; echo "<result>part $part</result>" ;;
    esac`,
    'flow/DONE.sh': DONE,
  });
  const terminal = new TmuxTerminal(project, SIZES['80x24']);
  await terminal.run('raymond flow --workflow-id parts --max-parallel 20');
  await terminal.shows('main_work4 asks:');
  project.write('fail', '');
  await terminal.shows('1 failed');
  await showsEachSize(terminal, 'hundreds', '20 running');
  terminal.type('Down');
  await terminal.shows('❯ ✗ main_work9');
  terminal.type('s');
  await terminal.shows('do not stop it');
  terminal.type('k');
  await terminal.shows('parts interrupted');
  await terminal.isAsBefore();
});

test('a tool call that needs a permission', async () => {
  const claude = await fakeClaude('asks permission', {
    requests: [
      {
        tool_name: 'Bash',
        input: { command: 'git push --force-with-lease origin main', description: 'Publish' },
        permission_suggestions: [
          {
            type: 'addRules',
            behavior: 'allow',
            destination: 'localSettings',
            rules: [{ toolName: 'Bash', ruleContent: 'git push:*' }],
          },
        ],
      },
    ],
  });
  const project = newProject({ 'flow/START.md': 'Publish it.' });
  const terminal = new TmuxTerminal(project, SIZES['80x24'], claude.environment);
  await terminal.run('raymond flow --workflow-id publish --ask-permissions');
  await terminal.shows('asks permission');
  await showsEachSize(terminal, 'permission', '  3  deny');
  terminal.type('3', 'Enter');
  await terminal.shows('publish completed');
  await terminal.isAsBefore();
});
