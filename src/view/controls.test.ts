import { expect, test } from 'vitest';
import { type Controls, type Pressing, pressed } from './controls.ts';
import type { Key } from './keys.ts';

const PRESSING: Pressing = {
  order: ['a', 'b', 'c'],
  mayLeave: false,
  mayStop: true,
  hasQuestion: false,
};
const letter = (one: string): Key => ({ letter: one });

test.each<[string, Controls, Key, Partial<Pressing>, Controls, string?]>([
  ['the first arrow chooses the first row', {}, 'down', {}, { chosen: 'a' }],
  ['or the last one', {}, 'up', {}, { chosen: 'c' }],
  ['the next row', { chosen: 'a' }, 'down', {}, { chosen: 'b' }],
  ['the last row stays', { chosen: 'c' }, 'down', {}, { chosen: 'c' }],
  ['the last row', { chosen: 'a' }, 'end', {}, { chosen: 'c' }],
  ['an agent that is gone', { chosen: 'x' }, 'down', {}, { chosen: 'a' }],
  ['no agent at all', {}, 'down', { order: [] }, { chosen: undefined }],
  ['Enter opens', { chosen: 'b' }, 'enter', {}, { chosen: 'b' }, 'open'],
  ['Enter without an agent chooses one', {}, 'enter', {}, { chosen: 'a' }],
  ['Esc closes a panel first', { chosen: 'a', panel: 'keys' }, 'escape', {}, { chosen: 'a' }],
  ['Esc chooses nobody', { chosen: 'a' }, 'escape', {}, {}],
  ['? shows the keys', {}, letter('?'), {}, { panel: 'keys' }],
  ['? hides them', { panel: 'keys' }, letter('?'), {}, {}],
  ['s asks first', {}, letter('s'), {}, { panel: 'stop' }],
  ['s does nothing where nothing can be stopped', {}, letter('s'), { mayStop: false }, {}],
  ['y stops', { panel: 'stop' }, letter('y'), {}, {}, 'drain'],
  ['k stops now', { panel: 'stop' }, letter('k'), {}, {}, 'now'],
  ['n does not stop', { panel: 'stop' }, letter('n'), {}, {}],
  ['Enter does not confirm a stop', { panel: 'stop' }, 'enter', {}, { panel: 'stop' }],
  ['y does nothing without the panel', {}, letter('y'), {}, {}],
  ['a answers', { chosen: 'a' }, letter('a'), { hasQuestion: true }, {}, 'answer'],
  ['a without a question', { chosen: 'a' }, letter('a'), {}, { chosen: 'a' }],
  ['q leaves', {}, letter('q'), { mayLeave: true }, {}, 'leave'],
  ['q does not stop a run', {}, letter('q'), {}, {}],
  ['Ctrl-C', {}, 'ctrl-c', {}, {}, 'interrupt'],
])('%s', (_, controls, key, pressing, after, act) => {
  const done = pressed(controls, key, { ...PRESSING, ...pressing });
  expect(done.controls).toEqual(after);
  expect(done.act).toBe(act);
});
