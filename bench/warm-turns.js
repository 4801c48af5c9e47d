// Measures how much time a warm session saves. The same loop of prompts runs with one process, and
// with one process for each prompt. Claude Code is real, and the model on loopback answers
// immediately.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/raymond.js', import.meta.url));
const installed = fileURLToPath(new URL('../test/real-agent/node_modules/', import.meta.url));

/** The duration of a later turn in milliseconds, for each mode and installed version. */
export async function* warmTurns(folder) {
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  for (const version of versions.filter((name) => name.startsWith('claude-'))) {
    const claude = join(installed, version, 'claude');
    const cold = await laterTurn(folder, claude, 8, ['--no-warm']);
    const warm = await laterTurn(folder, claude, 20, []);
    yield { version, cold, warm };
  }
}

async function laterTurn(folder, claude, turns, flags) {
  const work = join(folder, `${turns}-${Math.random()}`);
  for (const name of ['home', 'config', 'workflow'])
    mkdirSync(join(work, name), { recursive: true });
  writeFileSync(join(work, 'workflow', 'START.md'), 'Continue.');
  const server = await model(turns);
  try {
    const events = await run(work, claude, server.address().port, flags);
    const startedAt = new Map(of(events, 'step-started').map(({ step, at }) => [step, at]));
    const took = of(events, 'step-ended').map(({ step, at }) => at - startedAt.get(step));
    return median(took.slice(1));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function run(work, claude, port, flags) {
  const env = {
    PATH: process.env.PATH,
    HOME: join(work, 'home'),
    CLAUDE_CONFIG_DIR: join(work, 'config'),
    RAYMOND_CLAUDE: claude,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
    ANTHROPIC_API_KEY: 'sk-fake',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
  };
  const args = [bin, 'workflow', '--json', '--no-debug', ...flags];
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = spawn(process.execPath, args, { cwd: work, env, stdio });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Implements as much of the Messages API as needed to answer each prompt with a tag. */
async function model(turns) {
  let asked = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const isPrompt = request.url.startsWith('/v1/messages?') && body.includes('"tools":[{');
    const last = isPrompt && ++asked >= turns;
    const text = last ? '<result>there</result>' : '<goto>START</goto>';
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: `msg_${asked}`, type: 'message', role: 'assistant', model: 'claude' };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (event) => {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    };
    send({ type: 'message_start', message: { ...message, content: [], usage } });
    send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    send({ type: 'content_block_stop', index: 0 });
    send({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage });
    send({ type: 'message_stop' });
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const of = (events, type) => events.filter((event) => event.type === type);

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
