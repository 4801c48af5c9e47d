import { expect, test } from 'vitest';
import { makeRun, types } from '../../test/make-run.ts';
import { changedFiles } from '../model/workflow-files.ts';

const FILES = { '/flow': { 'START.md': 'aa', 'N.md': 'bb' }, '/other': { 'START.md': 'cc' } };

const stageWith = (files: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  makeRun(
    { START: [], N: [] },
    { settings: { budgetUsd: 0 }, others: { '/other': { START: [] } }, files },
  );

test('a run records the files of its workflow before its first step starts', () => {
  const stage = stageWith(FILES);
  const events = stage.start();
  expect(events).toMatchObject([
    { type: 'workflow-read', workflow: '/flow', files: FILES['/flow'] },
    { type: 'step-started' },
  ]);
  stage.end('<goto>N</goto>');
  expect(types(stage.start())).toEqual(['step-started']);
  expect([...stage.run.workflowFiles]).toEqual([['/flow', FILES['/flow']]]);
});

test.each([
  ['<reset-workflow>/other</reset-workflow>', 'agent-moved'],
  ['<call-workflow return="N">/other</call-workflow>', 'agent-moved'],
  ['<function-workflow return="N">/other</function-workflow>', 'agent-moved'],
  [
    '<fork-workflow next="N">/other</fork-workflow><fork-workflow>/other</fork-workflow>',
    'agent-forked',
  ],
])(
  'a run records the files of another workflow once, when a transition enters it: %s',
  (answer, type) => {
    const stage = stageWith(FILES);
    const events = stage.turn(answer);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'workflow-read',
        workflow: '/other',
        files: FILES['/other'],
      }),
    );
    expect(types(events).filter((kind) => kind === 'workflow-read')).toHaveLength(1);
    expect(types(events)[types(events).indexOf('workflow-read') + 1]).toBe(type);
  },
);

test('a workflow that was not read from files is not recorded', () => {
  const stage = stageWith({});
  stage.turn('<reset-workflow>/other</reset-workflow>');
  stage.start();
  expect(types(stage.events)).not.toContain('workflow-read');
});

test('a run of an earlier version records the files when it continues', () => {
  const stage = stageWith({ '/other': FILES['/other'] });
  stage.turn('<call-workflow return="N">/other</call-workflow>');
  const later = stageWith(FILES);
  later.run = stage.run;
  expect(types(later.turn('<result>x</result>'))).toEqual([
    'step-ended',
    'workflow-read',
    'agent-moved',
  ]);
});

test('accepted changes are recorded with the resume, before other events', () => {
  const stage = stageWith(FILES);
  stage.turn('<ask next="N">?</ask>');
  const later = stageWith({ ...FILES, '/flow': { 'START.md': 'new' } });
  later.run = stage.run;
  const { settings } = stage.run;
  const events = later.handle({
    kind: 'resume',
    at: 9,
    settings,
    input: 'yes',
    accepted: ['/flow', '/gone'],
  });
  expect(types(events)).toEqual(['run-resumed', 'workflow-read', 'agent-answered']);
  expect(later.run.workflowFiles.get('/flow')).toEqual({ 'START.md': 'new' });
});

test.each([
  [{ a: '1' }, { a: '1' }, []],
  [{ a: '1' }, { a: '2' }, ['a']],
  [{ a: '1' }, { a: '1', b: '2' }, ['b']],
  [{ a: '1', b: '2' }, { a: '1' }, []],
  [{}, { constructor: '1' }, ['constructor']],
])('%j, then %j: changed is %j', (read, now, changed) => {
  expect(changedFiles(read, now)).toEqual(changed);
});
