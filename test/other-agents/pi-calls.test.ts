// pi cannot branch sessions, so a call is refused before anything is spent.
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const FLOW = {
  'flow/workflow.yaml': 'agent: pi\n',
  'flow/START.md':
    '---\nallowed_transitions:\n  - { tag: call, target: SUB, return: END }\n---\nSay <call return="END">SUB</call>.',
  'flow/SUB.md': 'Say <result>x</result>.',
  'flow/END.md': 'Say {{result}} and <result>y</result>.',
};

test.each(['lint', 'run'])('%s refuses a call with pi, and names its line', async (what) => {
  const { code, stdout, stderr } = await command(newProject(FLOW), [what, 'flow']);
  expect(code).not.toBe(0);
  expect(stdout + stderr).toContain(
    'flow/START.md:3:5: error: The agent pi of SUB.md cannot branch a session',
  );
});
