import { describe, expect, test } from 'vitest';
import { stateNameSchema } from '../model/state-name.ts';
import type { Platform, State } from '../model/workflow.ts';
import { resolveState } from './resolve.ts';

const workflow = (platform: Platform, names: string) => {
  const states = names.split(' ').map((text): State => {
    const name = stateNameSchema.parse(text.replace('!', ''));
    if (!text.startsWith('!')) {
      const place = { file: name, line: 1, column: 1 };
      return { kind: 'script', name, text: '', place, interpreter: 'bash', limits: {} };
    }
    const message = 'It is not UTF-8.';
    const fault = {
      severity: 'error',
      code: 'x',
      file: name,
      line: 1,
      column: 1,
      message,
    } as const;
    return { kind: 'broken', name, diagnostics: [fault] };
  });
  return { platform, states: new Map(states.map((state) => [state.name, state])) };
};

describe.each<[Platform, [string, string, string][]]>([
  [
    'unix',
    [
      // name, files, file or problem
      ['A', 'A.md', 'A.md'],
      ['A', 'A.sh', 'A.sh'],
      ['A', 'A.md A.bat A.ps1', 'A.md'],
      ['A', 'A.sh A.bat A.ps1', 'A.sh'],
      ['A', 'A.md A.sh', 'ambiguous'],
      ['A', 'A.bat', 'wrong-platform'],
      ['A', 'A.ps1', 'wrong-platform'],
      ['A', 'B.md', 'missing'],
      ['a', 'A.md', 'missing'],
      ['A.md', 'A.md A.sh', 'A.md'],
      ['A.sh', 'A.md A.sh', 'A.sh'],
      ['A.sh', 'A.md', 'missing'],
      ['A.bat', 'A.bat A.sh', 'wrong-platform'],
      ['A.ps1', 'A.ps1 A.sh', 'wrong-platform'],
      ['A.ps1', 'A.sh', 'missing'],
      ['v1.2', 'v1.2.md', 'v1.2.md'],
      ['v1', 'v1.2.md', 'missing'],
      ['A', '!A.md', 'broken'],
      ['A', '!A.md A.sh', 'ambiguous'],
      ['', 'A.md', 'missing'],
    ],
  ],
  [
    'windows',
    [
      ['A', 'A.md', 'A.md'],
      ['A', 'A.ps1', 'A.ps1'],
      ['A', 'A.bat', 'A.bat'],
      ['A', 'A.bat A.sh', 'A.bat'],
      ['A', 'A.ps1 A.bat', 'ambiguous'],
      ['A', 'A.md A.bat', 'ambiguous'],
      ['A', 'A.md A.sh', 'A.md'],
      ['A', 'A.sh', 'wrong-platform'],
      ['A.sh', 'A.sh A.bat', 'wrong-platform'],
      ['A.bat', 'A.ps1 A.bat', 'A.bat'],
      ['A.ps1', 'A.ps1 A.bat', 'A.ps1'],
    ],
  ],
])('%s', (platform, rows) => {
  test.each(rows)('%j among %s: %s', (name, files, expected) => {
    const resolved = resolveState(workflow(platform, files), name);
    expect('found' in resolved ? resolved.found : resolved.problem).toBe(expected);
  });
});

test.each([
  ['A', 'A.md A.sh', '"A" can mean A.md or A.sh. Add the extension.'],
  ['REVEIW', 'REVIEW.md START.md', 'There is no state "REVEIW". Similar names: REVIEW.md.'],
  ['REVEIW.md', 'REVIEW.md START.md', 'There is no state "REVEIW.md". Similar names: REVIEW.md.'],
  ['X', 'B.md START.md', 'There is no state "X". The workflow has B.md, START.md.'],
  ['A', 'A.bat', 'A.bat cannot run on Unix. States for Unix end in .md, .sh.'],
  ['A', '!A.md', 'The state A.md cannot be used: A.md:1:1: It is not UTF-8.'],
])('the message for %j among %s', (name, files, message) => {
  expect(resolveState(workflow('unix', files), name)).toMatchObject({ message });
});
