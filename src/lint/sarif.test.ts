import { expect, test } from 'vitest';
import { AGENTS } from '../execute/agents/agents.ts';
import { toSarif } from './sarif.ts';

test('a diagnostic becomes a result with its rule and position', () => {
  const place = { file: 'a flow/A.md', line: 3, column: 7 };
  const log = toSarif(
    [
      { severity: 'error', code: 'missing-state', ...place, message: 'No B.', remedy: 'Add it.' },
      { severity: 'note', code: 'of-another-part', ...place, message: 'Hm.' },
    ],
    '1.2.3',
    AGENTS,
  );
  expect(log).toMatchObject({
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            version: '1.2.3',
            rules: [
              { id: 'missing-state', defaultConfiguration: { level: 'error' } },
              { id: 'of-another-part' },
            ],
          },
        },
        results: [
          {
            ruleId: 'missing-state',
            ruleIndex: 0,
            level: 'error',
            message: { text: 'No B. Add it.' },
            locations: [
              {
                physicalLocation: {
                  artifactLocation: { uri: 'a%20flow/A.md' },
                  region: { startLine: 3, startColumn: 7 },
                },
              },
            ],
          },
          { ruleId: 'of-another-part', ruleIndex: 1, level: 'note' },
        ],
      },
    ],
  });
});
