// The real agent orchestrates a run: it is the client of `raymond mcp`, which it starts itself.
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { AgentStatusShape } from '../../src/look/run-shape.ts';
import { BIN } from '../raymond.ts';
import { askedIn, call, timesOf } from './asking-run.ts';
import { runClaude, suiteAges } from './claude-sandbox.ts';
import type { ModelRequest } from './model-request.ts';
import { eventsOf, lastPrompt, sandboxes } from './raymond-sandbox.ts';
import type { Answer, Reply } from './scripted-model.ts';

const sandbox = sandboxes();

const FLOW = {
  'START.sh': `echo '<ask next="WORK">Which way?</ask>'`,
  'WORK.md': 'Go {{input}}.',
};

interface Seen {
  readonly position?: number;
  readonly status?: string;
  readonly result?: { readonly text: string };
  readonly agents?: readonly { readonly status: AgentStatusShape }[];
  readonly error?: { readonly code: string; readonly remedy: string };
}

const use = (name: string, input: object): Answer => ({
  content: [{ type: 'tool_use', name: `mcp__raymond__${name}`, input: { ...input } }],
});

/** The newest result of a tool, as its text. */
function toolAnswer({ messages }: ModelRequest): string {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const content = blocks.findLast(({ type }) => type === 'tool_result')?.content;
  const parts = z.safeParse(z.array(z.object({ text: z.string() })), content);
  return parts.success ? parts.data.map(({ text }) => text).join('') : String(content);
}

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('it starts a run, watches, answers, and cannot allow in place of a person', async () => {
    const seen: Seen[] = [];
    let allowed = Promise.resolve();
    let last: Seen = {};

    /** What an orchestrating agent does next, after the answer of a tool. */
    const orchestrate = (answer: Seen): Reply => {
      seen.push(answer);
      if (answer.position !== undefined) last = answer;
      const watch = use('watch', { run: 'one', after: last.position, seconds: 20 });
      if (answer.error?.code === 'not-allowed-here') {
        allowed = world.run('answer', 'one', 'allow').then(({ code }) => expect(code).toBe(0));
        return { ...watch, after: allowed };
      }
      if (answer.status === 'completed') return `It ended with ${answer.result?.text}.`;
      const statuses = answer.agents?.map(({ status }) => status) ?? [];
      if (statuses.some((status) => status.kind === 'asking' && !status.answered))
        return use('answer', { run: 'one', text: 'left' });
      const isRefused = seen.some(({ error }) => error !== undefined);
      const isAsked = statuses.some(
        (status) => status.kind === 'running' && status.requests.some(({ answered }) => !answered),
      );
      if (!isRefused && isAsked) return use('decide', { run: 'one', decision: 'allow' });
      return watch;
    };
    const script = (request: ModelRequest): Reply => {
      const said = lastPrompt(request);
      if (said === 'Orchestrate.') {
        expect(request.tools).toContain('mcp__raymond__start');
        return use('start', { workflow: 'workflow', id: 'one', ask_permissions: true });
      }
      if (said === 'Go left.') return call('made');
      const answer = toolAnswer(request);
      return answer.startsWith('{')
        ? orchestrate(JSON.parse(answer))
        : '<result>went left</result>';
    };
    // Newer versions otherwise let the model look for tools first.
    const environment = { ENABLE_TOOL_SEARCH: 'false' };
    const world = await sandbox({ age, workflow: FLOW, script, environment });
    const { claude, file, journal } = world;
    const server = { command: process.execPath, args: [BIN, 'mcp', '--budget', '3'] };
    writeFileSync(file('mcp.json'), JSON.stringify({ mcpServers: { raymond: server } }));
    const args = ['-p', '--output-format', 'json', '--strict-mcp-config', '--mcp-config'];
    const ended = await runClaude(
      age,
      claude,
      [...args, file('mcp.json'), '--allowedTools', 'mcp__raymond'],
      'Orchestrate.',
    );
    await allowed;
    expect(ended.exit).toMatchObject({ code: 0 });
    expect(JSON.parse(ended.stdout)).toMatchObject({ result: 'It ended with went left.' });
    expect(journal('one')[0]).toMatchObject({ settings: { budgetUsd: 3, askPermissions: true } });
    expect(eventsOf(journal('one'), 'agent-answered')).toMatchObject([{ text: 'left' }]);
    // The refusal names the command for the person.
    expect(seen.find(({ error }) => error)?.error?.remedy).toContain('raymond answer one allow');
    expect(eventsOf(journal('one'), 'permission-answered')).toHaveLength(1);
    expect(timesOf(world, 'made')).toBe(1);
    expect(askedIn({ journal: () => journal('one') })).toHaveLength(1);
  });
});
