import { expect, test } from 'vitest';
import { newRun } from '../interpret/new-run.ts';
import { noticeJson } from './notify.ts';

test('a program gets the event with its place in the journal', () => {
  const event = { type: 'run-ended', at: 5, outcome: 'completed' } as const;
  const run = { ...newRun, id: 'r', workflow: '/w', cwd: '/p', seq: 7 };
  expect(noticeJson({ kind: 'end', text: 'x', event, run })).toEqual({
    notice: 'end',
    workflow_id: 'r',
    workflow: '/w',
    cwd: '/p',
    text: 'x',
    event: { seq: 7, ...event },
  });
});
