// One process answers many turns, and control requests change its settings between them.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import {
  claudeArguments,
  setEffort,
  setModel,
  setPermissionMode,
  userMessage,
} from '../../src/execute/claude/command.ts';
import { type Happening, messageReader } from '../../src/execute/claude/messages.ts';
import { claudeBinary, claudeSandbox, suiteAges } from './claude-sandbox.ts';
import { history } from './model-request.ts';
import { scriptedModel } from './scripted-model.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe.each(suiteAges)('the %s version, kept warm', (age) => {
  async function warm(script: Parameters<typeof scriptedModel>[0]) {
    const model = await scriptedModel(script);
    cleanups.push(() => model.close());
    const sandbox = await claudeSandbox(model.url);
    cleanups.push(() => sandbox.remove());
    const args = claudeArguments({
      session: { use: 'fresh', id: randomUUID() },
      permission: { mode: 'acceptEdits' },
    });
    const child = spawn(claudeBinary(age), args, {
      cwd: sandbox.work,
      env: sandbox.environment,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    cleanups.push(() => end(child));
    const heard: Happening[] = [];
    const read = messageReader();
    child.stdout.setEncoding('utf8').on('data', (chunk) => heard.push(...read(chunk)));

    async function until<H extends Happening>(
      isIt: (happening: Happening) => happening is H,
      count: number,
    ): Promise<H> {
      for (;;) {
        const found = heard.filter(isIt)[count - 1];
        if (found !== undefined) return found;
        await once(child.stdout, 'data');
      }
    }
    let turns = 0;
    return {
      model,
      async ask(text: string) {
        child.stdin.write(userMessage(text, randomUUID()));
        turns += 1;
        return until((each) => each.kind === 'result', turns);
      },
      /** Writes a line without waiting for the answer. */
      tell: (line: string) => child.stdin.write(line),
      async answerTo(request: string) {
        const isAnswer = (each: Happening) => each.kind === 'control' && each.request === request;
        return until((each): each is Happening & { kind: 'control' } => isAnswer(each), 1);
      },
      async finish() {
        child.stdin.end();
        await once(child, 'close');
        return child.exitCode;
      },
    };
  }

  it('answers several turns, changes settings between them, and exits when its input ends', async () => {
    const { model, ask, tell, answerTo, finish } = await warm((_, turn) => ({
      content: `A${turn}`,
      usage: { input_tokens: 10_000 },
    }));
    const first = await ask('Q0');
    tell(setModel('1', 'claude-opus-4-5'));
    tell(setEffort('2', 'low'));
    tell(setPermissionMode('3', 'plan'));
    tell(setPermissionMode('4', 'bypassPermissions'));
    const second = await ask('/cost');

    expect(await answerTo('1')).toEqual({ kind: 'control', request: '1' });
    expect(await answerTo('2')).toEqual({ kind: 'control', request: '2' });
    expect(await answerTo('3')).toEqual({ kind: 'control', request: '3' });
    expect((await answerTo('4')).error).toMatch(/skip-permissions/);
    expect(model.requests[1]).toMatchObject({ model: 'claude-opus-4-5', effort: 'low' });
    expect(conversationLines(model.requests[1])).toEqual(['Q0', 'A0', '/cost']);
    // Both versions report the total cost of the process.
    expect(second.costUsd).toBeGreaterThan(first.costUsd ?? 0);
    expect(await finish()).toBe(0);
  });

  it('can be interrupted, and then answers again', async () => {
    const never = new Promise<void>(() => {});
    const { model, ask, tell, finish } = await warm([{ content: 'A0', after: never }, 'A1']);
    const interrupted = ask('Q0');
    await model.arrived(1);
    const request = { type: 'control_request', request_id: '1', request: { subtype: 'interrupt' } };
    tell(`${JSON.stringify(request)}\n`);
    expect(await interrupted).toMatchObject({ isError: true });
    expect(await ask('Q1')).toMatchObject({ isError: false, text: 'A1' });
    expect(await finish()).toBe(0);
  });
});

function conversationLines(request: Parameters<typeof history>[0] | undefined): string[] {
  return request === undefined ? [] : history(request).map(({ text }) => text);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'close');
}
