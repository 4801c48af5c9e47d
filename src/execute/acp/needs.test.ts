import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acpCommands } from '../agents/agents.ts';

const KNOWN = acpCommands();

test.each(Object.keys(KNOWN))('%s writes, and has hosts', (name) => {
  const needs = KNOWN[name]?.needs?.({ HOME: '/home/a' });
  expect(needs?.hosts).not.toEqual([]);
  expect(needs?.writes.every((path) => path.startsWith('/'))).toBe(true);
});

test.each<[string, Record<string, string>, string]>([
  ['gemini', { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:8080/x' }, '127.0.0.1:8080'],
  ['qwen', { OPENAI_BASE_URL: 'https://a.example/v1' }, 'a.example:443'],
  ['copilot', { COPILOT_PROVIDER_BASE_URL: 'https://a.example' }, 'a.example:443'],
  [
    'opencode',
    {
      OPENCODE_CONFIG_CONTENT: '{"provider":{"x":{"options":{"baseURL":"https://b.example/v1"}}}}',
    },
    'b.example:443',
  ],
])('%s reaches the service that its user has configured', (name, environment, host) => {
  const hosts = KNOWN[name]?.needs?.({ HOME: '/home/a', ...environment }).hosts;
  expect(hosts).toContain(host);
});

test('pi reaches the services of its models', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-pi-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'pi'));
  const models = { providers: { own: { baseUrl: 'http://localhost:11434/v1' } } };
  writeFileSync(join(folder, 'pi/models.json'), JSON.stringify(models));
  const needs = KNOWN.pi?.needs?.({ PI_CODING_AGENT_DIR: join(folder, 'pi') });
  expect(needs?.hosts).toContain('localhost:11434');
});
