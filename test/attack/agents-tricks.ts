/** Tricks of an agent against the user who runs it. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openTerminal } from '../open-terminal.ts';
import { BIN } from '../raymond.ts';
import type { Attack, Scene } from './attack.ts';

const PROMPT = 'Do it.';
const END = { 'flow/END.sh': `echo '<result>end</result>'` };

export const AGENTS_TRICKS: readonly Attack[] = [
  ...['TAR_OPTIONS', 'tar_options', 'Tar_Options'].map(
    (name): Attack => ({
      ...(name !== 'Tar_Options' && { isSlow: true }),
      name: `a child with the variable ${name}`,
      expected: 'it did not run',
      files: () => ({
        ...END,
        'flow/START.md': PROMPT,
        'flow/WORK.sh': `tar -cf /dev/null "$RAYMOND_TASK_FOLDER"\necho '<result>ok</result>'`,
      }),
      play: async ({ agent, mark, ran }) => {
        const options = `--checkpoint=1 --checkpoint-action=exec='touch ${mark}'`;
        const tag = `<fork next="END" ${name}="${options}">WORK</fork>`;
        await agent({ answers: tag }, 'flow');
        return ran();
      },
    }),
  ),
  {
    name: 'control: the same variable from a shell',
    expected: 'it ran',
    files: () => ({ 'flow/START.sh': `tar -cf /dev/null .\necho '<result>ok</result>'` }),
    play: async ({ project, mark, ran }) => {
      const options = `--checkpoint=1 --checkpoint-action=exec='touch ${mark}'`;
      await project.run(['flow'], { env: { TAR_OPTIONS: options } });
      return ran();
    },
  },
  ...(['reset-workflow', 'call-workflow return="END"', 'fork-workflow next="END"'] as const).map(
    (tag): Attack => ({
      name: `<${tag}> to a workflow that the agent has just written`,
      expected: 'it did not run',
      files: () => ({ ...END, 'flow/START.md': PROMPT }),
      play: async ({ agent, mark, ran }) => {
        const does = `mkdir -p evil; echo "touch '${mark}'; echo '<result>x</result>'" > evil/START.sh`;
        const name = tag.split(' ')[0];
        await agent({ does, answers: `<${tag}>../evil</${name}>` }, 'flow');
        return ran();
      },
    }),
  ),
  {
    name: 'cd to a folder outside the project',
    expected: 'not moved',
    files: () => ({ 'flow/START.md': PROMPT, 'flow/HERE.sh': 'echo "<result>$PWD</result>"' }),
    play: async ({ project, agent }) => {
      const outside = join(dirname(project.folder), 'outside');
      mkdirSync(outside);
      const { stdout } = await agent({ answers: `<reset cd="${outside}">HERE</reset>` }, 'flow');
      return stdout.includes(outside) ? 'moved' : 'not moved';
    },
  },
  {
    name: 'cd through a link that leaves the project',
    expected: 'not moved',
    files: () => ({ 'flow/START.md': PROMPT, 'flow/HERE.sh': 'echo "<result>$PWD</result>"' }),
    play: async ({ agent }) => {
      const { stdout } = await agent(
        { does: 'ln -s / way-out', answers: '<reset cd="way-out">HERE</reset>' },
        'flow',
      );
      return stdout === '' ? 'not moved' : `moved to ${stdout}`;
    },
  },
  {
    name: 'a script of the workflow, edited and then run',
    expected: 'it did not run',
    files: () => ({ ...END, 'flow/START.md': PROMPT }),
    play: async (scene) => {
      await editScript(scene);
      return scene.ran();
    },
  },
  {
    name: 'control: the same script after resume --accept-changes',
    expected: 'it ran',
    files: () => ({ ...END, 'flow/START.md': PROMPT }),
    play: async (scene) => {
      await editScript(scene);
      await scene.project.run(['resume', 'r', '--accept-changes']);
      return scene.ran();
    },
  },
  {
    name: 'an answer written into the inbox',
    expected: 'still asked',
    files: asking,
    play: async ({ project, agent }) => {
      // Two agents: one asks the user, and the other finds the question and answers it.
      const does = `
        until grep -q agent-asked .raymond/state/r.jsonl; do sleep 0.05; done
        at=$(grep agent-asked .raymond/state/r.jsonl | sed 's/.*"at":\\([0-9]*\\).*/\\1/')
        mkdir -p .raymond/runs/r/inbox
        echo "{\\"kind\\":\\"answer\\",\\"agent\\":\\"main\\",\\"askedAt\\":$at,\\"text\\":\\"yes\\"}" > .raymond/runs/r/inbox/000000000000001-aaaaaaaa.json`;
      await agent({ does, answers: '<result>answered</result>' }, 'flow', '--workflow-id', 'r');
      return deployed(project);
    },
  },
  {
    name: "an answer given with Raymond's own command",
    expected: 'still asked',
    files: asking,
    play: async ({ project, agent }) => {
      const does = `
        until grep -q agent-asked .raymond/state/r.jsonl; do sleep 0.05; done
        '${process.execPath}' '${BIN}' answer r yes`;
      await agent({ does, answers: '<result>answered</result>' }, 'flow', '--workflow-id', 'r');
      return deployed(project);
    },
  },
  {
    name: 'control: the same answer by the user',
    expected: 'deployed',
    files: asking,
    play: async ({ project, agent }) => {
      await agent({ answers: '<result>answered</result>' }, 'flow', '--workflow-id', 'r');
      await project.run(['answer', 'r', 'yes']);
      await project.run(['resume', 'r']);
      return deployed(project);
    },
  },
  {
    name: 'a script looks for the key in its environment',
    expected: 'not there',
    files: () => ({
      'flow/START.sh': `cat /proc/*/environ > all 2>/dev/null; env >> all; echo '<result>ok</result>'`,
    }),
    play: async ({ project }) => {
      await project.run(['flow']);
      const { XDG_STATE_HOME = '' } = project.environment;
      const key = readFileSync(join(XDG_STATE_HOME, 'raymond', 'key'), 'utf8').trim();
      return readFileSync(project.path('all')).includes(key) ? 'found' : 'not there';
    },
  },
  {
    name: 'escape sequences in the result, at a terminal',
    expected: 'shown, not obeyed',
    files: () => ({
      'flow/START.sh': `printf '<result>\\033]0;owned\\007\\033[2J\\342\\200\\256</result>'`,
    }),
    play: async ({ project }) => {
      const terminal = openTerminal(project, ['flow', '--plain']);
      await terminal.ended;
      const screen = terminal.screen();
      if (['\x1b]0;owned', '\x1b[2J', '\u202e'].some((hostile) => screen.includes(hostile)))
        return 'obeyed';
      return screen.includes('owned') ? 'shown, not obeyed' : screen;
    },
  },
  {
    name: '100,000 children in one answer',
    isSlow: true,
    expected: 'none made',
    files: () => ({
      ...END,
      'flow/START.md': PROMPT,
      'flow/BOMB.sh': `for n in {1..100000}; do echo '<fork next="END">END</fork>'; done`,
    }),
    play: async ({ project, agent }) => {
      await agent({ answers: '<goto>BOMB</goto>' }, 'flow', '--workflow-id', 'r');
      const forks = project.journal('r').filter(({ type }) => type === 'agent-forked');
      return forks.length === 0 ? 'none made' : `${forks.length} made`;
    },
  },
  {
    name: 'endlessly nested calls',
    expected: 'it failed',
    files: () => ({ 'flow/START.sh': `echo '<call return="START">START</call>'` }),
    play: async ({ project }) => {
      const { code } = await project.run(['flow', '--no-debug']);
      return code === 1 ? 'it failed' : `exit ${code}`;
    },
  },
];

async function editScript({ agent, mark }: Scene): Promise<void> {
  const does = `echo "touch '${mark}'; echo '<result>x</result>'" > flow/END.sh`;
  await agent({ does, answers: '<goto>END</goto>' }, 'flow', '--workflow-id', 'r');
}

function asking() {
  return {
    'flow/START.sh': `echo '<fork next="ASK">TRICK</fork>'`,
    'flow/ASK.sh': `echo '<ask next="DEPLOY">May I deploy?</ask>'`,
    'flow/DEPLOY.sh': `[ "$RAYMOND_RESULT" = yes ] && touch deployed\necho '<result>ok</result>'`,
    'flow/TRICK.md': PROMPT,
  };
}

function deployed(project: Scene['project']): string {
  if (existsSync(project.path('deployed'))) return 'deployed';
  const asked = project.journal('r').some(({ type }) => type === 'agent-asked');
  return asked ? 'still asked' : `never asked: ${readdirSync(project.folder)}`;
}
