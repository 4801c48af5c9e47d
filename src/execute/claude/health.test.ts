import { describe, expect, it } from 'vitest';
import { loginCheck, versionCheck } from './health.ts';

describe('the version', () => {
  it.each([
    ['2.1.196', 'warning', / is older than 2\.1\.197, /],
    ['1.9.999', 'warning', / is older /],
    ['2.0.400', 'warning', / is older /],
    ['2.1.197', 'ok', /^Claude Code 2\.1\.197 \(\/claude\)$/],
    ['2.1.276', 'ok', /276 \(\/claude\)$/],
    ['2.1.325', 'ok', /325 \(\/claude\)$/],
    ['2.1.1000', 'ok', /, newer than 2\.1\.325, /],
    ['2.2.0', 'ok', /, newer /],
    ['10.0.0', 'ok', /, newer /],
    [undefined, 'problem', /^\/claude does not report a version of Claude Code\.$/],
  ] as const)('%s: %s', (version, verdict, fact) => {
    const check = versionCheck(version, '/claude');
    expect(check).toMatchObject({ name: 'claude', verdict });
    expect(check.fact).toMatch(fact);
  });
});

describe('the login', () => {
  it.each([
    ['{"loggedIn":true,"authMethod":"api_key"}', 'ok', /is logged in \(api_key\)$/],
    ['{\n  "loggedIn": false,\n  "authMethod": "none"\n}', 'problem', /is not logged in/],
    ['{}', 'warning', /cannot determine/],
    ['error: unknown command', 'warning', /cannot determine/],
    ['', 'warning', /cannot determine/],
  ] as const)('%j: %s', (status, verdict, fact) => {
    const check = loginCheck(status, '/claude');
    expect(check).toMatchObject({ name: 'login', verdict });
    expect(check.fact).toMatch(fact);
  });
});
