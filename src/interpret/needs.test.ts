import { expect, test } from 'vitest';
import { makeRun, state } from '../../test/make-run.ts';
import { readTags } from '../parse/tags.ts';
import { needs } from './needs.ts';

const none = { directories: [], workflows: [] };
const judged = `evaluators:
  - { prompt: J, expect: "YES", then: { tag: reset, target: START, cd: override } }`;

test.each([
  ['no paths', 'timeout: 1', '<goto>START</goto>', none],
  [
    'a cd that is written',
    'timeout: 1',
    '<reset cd="../d">S</reset>',
    { ...none, directories: ['../d'] },
  ],
  [
    'a workflow that is written',
    'timeout: 1',
    '<fork-workflow next="S"> w </fork-workflow>',
    { ...none, workflows: ['w'] },
  ],
  [
    'the paths that the policy implies',
    'allowed_transitions: [{ tag: reset-workflow, path: w, cd: d }]',
    '',
    { directories: ['d'], workflows: ['w'] },
  ],
  ['the paths of an evaluator', judged, '<goto>S</goto>', { ...none, directories: ['override'] }],
])('%s', (_, frontMatter, text, expected) => {
  const stage = makeRun({ START: state(frontMatter), J: [] });
  stage.start();
  const { directories, workflows } = needs(
    stage.workflows,
    stage.agent(),
    readTags(text, { code: 'heeded' }),
  );
  expect({ directories: [...directories], workflows: [...workflows] }).toEqual(expected);
});

test('a judge holds the tags that were written before it', () => {
  const stage = makeRun({ START: state(judged), J: [] });
  stage.turn('<reset cd="held">START</reset>');
  stage.start();
  const { directories } = needs(stage.workflows, stage.agent(), { tags: [], bad: [] });
  expect([...directories].sort()).toEqual(['held', 'override']);
});
