#!/usr/bin/env node
// Behaves like Claude Code as a test prescribes, for behaviour that the real one shows too rarely or
// too slowly. FAKE_CLAUDE names the play, FAKE_CLAUDE_LOG the file for its arguments and input.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const {
  FAKE_CLAUDE: play = 'answers',
  FAKE_CLAUDE_LOG: logFile = '/dev/null',
  FAKE_CLAUDE_TURNS: turns = '1',
  FAKE_CLAUDE_NEXT: next = 'START',
  FAKE_CLAUDE_ANSWER: lastAnswer = '<result>done</result>',
  FAKE_CLAUDE_COMMAND: command = '',
  FAKE_CLAUDE_REQUESTS: requests = '[]',
} = process.env;

const MEGABYTE = 1024 * 1024;
const END = { total_cost_usd: 0.25, permission_denials: [], stop_reason: 'end_turn' };

const lines = newLines();

/** Like Claude Code, ignores empty lines, and a prompt whose uuid it has seen. */
async function* newLines() {
  const seen = new Set();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === '') continue;
    const { uuid } = JSON.parse(line);
    if (seen.has(uuid)) continue;
    if (uuid !== undefined) seen.add(uuid);
    yield line;
  }
}

const plays = {
  answers(answer) {
    init();
    text(answer);
    result(answer);
  },
  acts(answer) {
    init();
    spawnSync('/bin/bash', ['-c', command]);
    text(answer);
    result(answer);
  },
  /** The command reads the prompt, and its output is the answer. */
  'obeys a command'(_answer, prompt) {
    init();
    const options = { input: prompt, encoding: 'utf8' };
    const { stdout } = spawnSync('/bin/bash', ['-c', command], options);
    text(stdout);
    result(stdout);
  },
  async 'talks much'(answer) {
    init();
    for (let i = 0; i < 20; i++) await text('x'.repeat(MEGABYTE), `m${i}`);
    text(answer);
    result(answer);
  },
  'says all in one line'(answer) {
    init();
    text(`${'ä'.repeat(5 * MEGABYTE)}${answer}`);
    result(answer);
  },
  'does not exit'(answer) {
    log({ kind: 'busy', pid: busy() });
    init();
    text(answer);
    result(answer);
    setInterval(() => {}, 1000);
    process.stdin.on('close', () => {});
  },
  'exits without a result'() {
    init();
    process.exit(0);
  },
  async 'gives two results'(answer) {
    init();
    text('<goto>NOWHERE</goto>', 'first');
    result('<goto>NOWHERE</goto>', { total_cost_usd: 0.1 });
    // So that they are not read together.
    await delay(200);
    text(answer);
    result(answer);
  },
  'is strange'(answer) {
    process.stdout.write('warning: this is not JSON\n{"torn": \n\n[]\nnull\n"text"\n');
    say({ type: 'telepathy', message: { content: 7 } });
    init('9.9.9-beta');
    say({ type: 'assistant' });
    say({ type: 'assistant', message: { content: [{ type: 'hologram' }, null], usage: null } });
    say({ type: 'system', subtype: 'mood' });
    text(answer);
    say({ result: answer, is_error: false, type: 'result' });
    say({ type: 'system', subtype: 'afterthought' });
  },
  'refuses changes'(answer) {
    plays.answers(answer);
  },
  /** Writes words and uses a tool, until it is stopped. */
  async streams() {
    init();
    for (let n = 1; ; n++) {
      const words = `Look at part ${n} of the file, **then** change \`pool.ts\` and run the tests again. `;
      for (const word of words.repeat(4).split(/(?<= )/)) {
        const delta = { type: 'text_delta', text: word };
        await say({ type: 'stream_event', event: { type: 'content_block_delta', delta } });
        await delay(80);
      }
      await text(words.repeat(4), `m${n}`);
      const use = {
        type: 'tool_use',
        id: `t${n}`,
        name: 'Bash',
        input: { command: `npm test -- part-${n}` },
      };
      await say({
        type: 'assistant',
        message: { id: `u${n}`, model: 'x', content: [use], usage: {} },
      });
      const content = [{ type: 'tool_result', tool_use_id: `t${n}`, content: `${n} tests pass` }];
      await say({ type: 'user', message: { role: 'user', content } });
    }
  },
  'is silent'() {
    log({ kind: 'busy', pid: busy() });
    init();
    setInterval(() => {}, 1000);
  },
  /** Executes the commands that are allowed. Its answer contains the replies. */
  async 'asks permission'(answer) {
    init();
    const open = new Map(JSON.parse(requests).map((request) => [randomUUID(), request]));
    const asked = [...open].map(([id, request]) => ({
      type: 'control_request',
      request_id: id,
      request: { subtype: 'can_use_tool', tool_use_id: `call-${id}`, ...request },
    }));
    const cancelled = [...open].filter(([, { cancel }]) => cancel).map(([id]) => id);
    for (const id of cancelled) open.delete(id);
    const cancels = cancelled.map((id) => ({ type: 'control_cancel_request', request_id: id }));
    // All at once, so that Raymond reads them together.
    const all = [...asked, ...cancels].map((one) => `${JSON.stringify(one)}\n`);
    process.stdout.write(all.join(''));
    const said = [];
    while (open.size > 0) {
      const line = JSON.parse((await lines.next()).value);
      if (line.type === 'control_request') grant(line);
      if (line.type !== 'control_response') continue;
      const { request_id: id, response } = line.response;
      log({ kind: open.has(id) ? 'reply' : 'unknown reply', response });
      const { input } = open.get(id) ?? {};
      if (!open.delete(id)) continue;
      if (response.behavior === 'allow' && input.command)
        spawnSync('/bin/bash', ['-c', input.command]);
      said.push(response.message ?? response.behavior);
      const content = [{ type: 'tool_result', tool_use_id: `call-${id}` }];
      say({ type: 'user', message: { role: 'user', content } });
    }
    text(`${said.join(', ')} ${answer}`);
    result(answer);
  },
  async 'starts slowly'(answer) {
    // Long enough for others to begin meanwhile, if they may.
    await delay(200);
    log({ kind: 'together', count: logged('spawned') - logged('started') });
    log({ kind: 'started' });
    init();
    text(answer);
    result(answer);
  },
};

log({ kind: 'spawned', pid: process.pid, argv: process.argv.slice(2) });
log({ kind: 'alive', count: spawned().filter(isAlive).length });
for (let line = await lines.next(); !line.done; line = await lines.next()) {
  const said = JSON.parse(line.value);
  if (said.type === 'control_request') grant(said);
  if (said.type !== 'user') continue;
  const prompt = said.message.content[0].text;
  const hash = createHash('sha256').update(prompt).digest('hex');
  log({ kind: 'prompt', length: prompt.length, hash });
  const answer = logged('prompt') < Number(turns) ? `<goto>${next}</goto>` : lastAnswer;
  await plays[play](answer, prompt);
}

function grant({ request_id, request }) {
  log({ kind: 'change', argv: [request.subtype] });
  const answer =
    play === 'refuses changes' ? { subtype: 'error', error: 'no' } : { subtype: 'success' };
  say({ type: 'control_response', response: { request_id, ...answer } });
  if (request.subtype === 'end_session') process.exit(0);
}

function spawned() {
  const lines = readFileSync(logFile, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'spawned');
}

function isAlive({ pid }) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function log(entry) {
  appendFileSync(logFile, `${JSON.stringify(entry)}\n`);
}

function logged(kind) {
  const lines = readFileSync(logFile, 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`{"kind":"${kind}"`)).length;
}

function say(event) {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(event)}\n`, resolve));
}

function init(version = '2.1.325') {
  return say({
    type: 'system',
    subtype: 'init',
    session_id: 'S',
    model: 'x',
    claude_code_version: version,
  });
}

function text(words, id = 'm') {
  const message = { id, model: 'x', content: [{ type: 'text', text: words }], usage: {} };
  return say({ type: 'assistant', message });
}

function result(words, more = {}) {
  return say({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: words,
    ...END,
    ...more,
  });
}

function busy() {
  return spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).pid;
}
