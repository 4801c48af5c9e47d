import { expect, test } from 'vitest';
import { readHelp } from './health.ts';

const HELP = `
  --dangerously-skip-permissions        Bypass all permission checks (really).
  --effort <level>                      Effort level for the current session
                                        (low, medium, high, xhigh, ultra)
  --permission-mode <mode>              Permission mode to use for the session
                                        (choices: "acceptEdits", "auto",
                                        "read-only")
  --plugin-dir <path>                   Load a plugin (or not)
`;

test('reads efforts and permission modes from the help of the agent', () => {
  expect(readHelp(HELP)).toEqual({
    efforts: ['low', 'medium', 'high', 'xhigh', 'ultra'],
    permissionModes: ['acceptEdits', 'auto', 'read-only'],
  });
});

test.each(['', '  --effort <level>\n', 'not a help'])('finds no names in %j', (help) => {
  expect(readHelp(help)).toEqual({ efforts: [], permissionModes: [] });
});
