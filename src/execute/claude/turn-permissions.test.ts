import { expect, test } from 'vitest';
import type { Asking } from '../../ports.ts';
import type { Asked } from './permission-request.ts';
import { TurnPermissions } from './turn-permissions.ts';

function turn() {
  const log: string[] = [];
  const granted: string[] = [];
  const permissions = new TurnPermissions({
    ask: (asking: Asking) =>
      log.push(
        asking.kind === 'requested'
          ? `asks ${asking.request.request}`
          : `withdraws ${asking.kind === 'withdrawn' ? asking.request : ''}`,
      ),
    send: (line) => {
      const { request_id, response } = JSON.parse(line).response;
      log.push(`${response.behavior} ${request_id}`);
    },
    onRest: (isResting) => log.push(isResting ? 'rests' : 'works'),
    onGranted: (rules) => granted.push(...rules),
  });
  return { permissions, log, granted };
}

const asked = (request: string): Asked => ({
  kind: 'permission-asked',
  request,
  tool: 'Bash',
  summary: 'x',
  input: { command: 'x' },
  call: `call of ${request}`,
  suggestions: [{ type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Bash' }] }],
});

test('rests while a request is open, and replies once', () => {
  const { permissions, log, granted } = turn();
  permissions.handle(asked('a'));
  permissions.handle(asked('b'));
  permissions.decide('b', { decision: 'allow-run' });
  permissions.decide('b', { decision: 'deny' });
  expect(permissions.isResting).toBe(true);
  permissions.decide('a', { decision: 'deny' });
  expect(log).toEqual(['rests', 'asks a', 'asks b', 'allow b', 'deny a', 'works']);
  expect(granted).toEqual(['Bash']);
});

test('a decision from before the request is read again is given then, without a question', () => {
  const { permissions, log } = turn();
  permissions.decide('a', { decision: 'allow' });
  permissions.handle(asked('a'));
  expect(log).toEqual(['rests', 'allow a', 'works']);
});

test('a request ends with its cancellation, with its result, and with the turn', () => {
  const { permissions, log } = turn();
  for (const request of ['a', 'b', 'c']) permissions.handle(asked(request));
  permissions.handle({ kind: 'permission-cancelled', request: 'a' });
  permissions.handle({ kind: 'permission-cancelled', request: 'unknown' });
  permissions.handle({ kind: 'tool-results', refused: [], calls: ['call of b', 'another'] });
  permissions.handle({
    ...{ kind: 'result', isError: false, subtype: 'success', session: 's' },
    ...{ denials: [], errors: [] },
  });
  expect(log.slice(4)).toEqual(['withdraws a', 'withdraws b', 'works', 'withdraws c']);
});

test('it is known when the decisions of an adopted turn have been given', async () => {
  const { permissions, log } = turn();
  await permissions.allGiven();
  permissions.decide('a', { decision: 'allow' });
  permissions.decide('a', { decision: 'allow' });
  const given = permissions.allGiven().then(() => log.push('all given'));
  permissions.handle(asked('a'));
  await given;
  permissions.decide('a', { decision: 'allow' });
  await permissions.allGiven();
  expect(log).toEqual(['rests', 'allow a', 'works', 'all given']);
});
