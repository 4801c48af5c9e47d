import { expect, test } from 'vitest';
import { loosened, type Rules } from './rules.ts';

const was: Rules = {
  model: 'sonnet',
  permissionMode: 'acceptEdits',
  skipPermissions: false,
  allowedTools: ['Read'],
  disallowedTools: ['WebFetch'],
  agentOptions: '',
  budgetUsd: 10,
};

test.each<[string, Partial<Rules>, Partial<Rules>, RegExp | undefined]>([
  ['nothing has changed', {}, {}, undefined],
  ['a stricter mode', {}, { permissionMode: 'plan' }, /mode is plan/],
  ['a looser mode', { permissionMode: 'plan' }, { permissionMode: 'acceptEdits' }, undefined],
  ['a mode that may allow anything', { permissionMode: 'auto' }, {}, /mode is acceptEdits/],
  ['permissions that were skipped', { skipPermissions: true }, {}, /not skipped/],
  ['permissions that are skipped now', {}, { skipPermissions: true }, undefined],
  ['a tool that was allowed', {}, { allowedTools: [] }, /fewer tools/],
  ['a tool that is allowed now', {}, { allowedTools: ['Read', 'Bash'] }, undefined],
  ['a tool that is forbidden now', {}, { disallowedTools: ['WebFetch', 'Bash'] }, /fewer tools/],
  ['a tool that was forbidden', {}, { disallowedTools: [] }, undefined],
  ['other options of the agent', {}, { agentOptions: 'x' }, /other options/],
  ['less money', {}, { budgetUsd: 5 }, /budget is \$5\.00/],
  ['more money', {}, { budgetUsd: 20 }, undefined],
  ['a limit of the money', { budgetUsd: 0 }, { budgetUsd: 5 }, /budget is \$5\.00/],
  ['no limit of the money', {}, { budgetUsd: 0 }, undefined],
  ['another model', {}, { model: 'haiku' }, /model is haiku/],
  ['no model any more', {}, { model: undefined }, undefined],
])('%s', (_, before, after, why) => {
  const said = loosened({ ...was, ...before }, { ...was, ...after });
  if (why === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(why);
});
