// A small agent that speaks the Agent Client Protocol, for tests. Its words follow from the prompt. Its
// arguments say what it can do: fork, load, resume; pi: the habits of pi-acp. Many prompts make it
// misbehave.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const abilities = new Set(process.argv.slice(2));
const home = process.env.SCRIPTED_HOME ?? process.cwd();
mkdirSync(home, { recursive: true });
const sessions = new Map();
const waiting = new Map();
let requests = 0;

const write = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, fields) =>
  write({ method: 'session/update', params: { sessionId, update: fields } });
const say = (sessionId, text, messageId) =>
  update(sessionId, {
    sessionUpdate: 'agent_message_chunk',
    ...(messageId && { messageId }),
    content: { type: 'text', text },
  });

function ask(method, params) {
  requests += 1;
  const id = `agent-${requests}`;
  write({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const fileOf = (id) => join(home, `${id}.json`);
const isPi = abilities.has('pi');

/** pi keeps nothing of a session before its first answer. */
function keep(id) {
  const { history } = sessions.get(id);
  if (!isPi || history.length > 1) writeFileSync(fileOf(id), JSON.stringify(history));
}

function open(history, cwd) {
  const id = `s-${process.pid}-${sessions.size}`;
  sessions.set(id, { history: [...history], cwd, cancel: () => {} });
  keep(id);
  return id;
}

const MODELS = {
  configOptions: [
    {
      id: 'model',
      category: 'model',
      name: 'Model',
      type: 'select',
      currentValue: 'acme/small',
      options: [
        { value: 'acme/small', name: 'small' },
        { value: 'acme/large', name: 'large' },
      ],
    },
  ],
};

const methods = {
  initialize: () => ({
    protocolVersion: abilities.has('version-2') ? 2 : 1,
    agentCapabilities: {
      loadSession: abilities.has('load'),
      sessionCapabilities: {
        ...(abilities.has('fork') && { fork: {} }),
        ...(abilities.has('resume') && { resume: {} }),
      },
    },
    authMethods: [{ id: 'login', name: 'Run "scripted login"' }],
  }),
  'session/new': ({ cwd }) => {
    if (abilities.has('logged-out')) throw { code: -32000, message: 'Authentication required' };
    const sessionId = open([], cwd);
    return {
      sessionId,
      ...(abilities.has('models') && MODELS),
      ...(isPi && { _meta: { piAcp: { startupInfo: greet(sessionId) } } }),
    };
  },
  'session/fork': ({ sessionId, cwd }) => ({ sessionId: open(historyOf(sessionId), cwd) }),
  'session/resume': ({ sessionId, cwd }) => load(sessionId, cwd, false),
  'session/load': ({ sessionId, cwd }) => load(sessionId, cwd, true),
  'session/set_config_option': ({ sessionId, value }) => {
    sessions.get(sessionId).model = value;
    return {};
  },
  'session/prompt': prompt,
};

/** The greeting follows the answer to session/new, and often comes after the prompt. */
function greet(id) {
  const words = 'Hello, I am pi.\n';
  setTimeout(() => say(id, words), 100);
  return words;
}

function historyOf(id) {
  if (sessions.has(id)) return sessions.get(id).history;
  if (isPi && !existsSync(fileOf(id))) return [];
  if (!existsSync(fileOf(id))) throw { code: -32002, message: `Session not found: ${id}` };
  return JSON.parse(readFileSync(fileOf(id), 'utf8'));
}

function load(id, cwd, replays) {
  const history = historyOf(id);
  sessions.set(id, { history, cwd, cancel: () => {} });
  if (replays)
    for (const [i, text] of history.entries())
      update(id, {
        sessionUpdate: i % 2 ? 'agent_message_chunk' : 'user_message_chunk',
        content: { type: 'text', text },
      });
  return {};
}

async function prompt({ sessionId, prompt: parts }) {
  const session = sessions.get(sessionId);
  const text = parts.map((part) => part.text).join('');
  if (isPi && text === '/session') return statement(sessionId, session);
  session.fault = undefined;
  session.history.push(text);
  keep(sessionId);
  const cancelled = new Promise((resolve) => {
    session.cancel = () => resolve({ stopReason: 'cancelled' });
  });
  const line = {
    pid: process.pid,
    session: sessionId,
    model: session.model,
    history: session.history,
  };
  appendFileSync(join(home, 'log.jsonl'), `${JSON.stringify(line)}\n`);
  const result = await Promise.race([play(sessionId, text, session), cancelled]);
  keep(sessionId);
  return result;
}

/** Each answer costs 0.25, or nothing in the own prices of the agent. */
async function statement(id, { history, fault }) {
  writeFileSync(join(home, 'asked'), '');
  const held = join(home, 'held');
  await until(() => !existsSync(held));
  const file = join(home, `${id}.jsonl`);
  const message = { role: 'assistant', ...(fault && { stopReason: 'error', errorMessage: fault }) };
  writeFileSync(file, `${JSON.stringify({ type: 'message', message })}\n{"type":"label"}\n`);
  const turns = fault ? 0 : history.length >> 1;
  const lines = [
    `Session: ${id}`,
    `Session file: ${file}`,
    `Cost: ${abilities.has('unpriced') ? 0 : turns / 4}`,
    `Tokens: in ${turns * 60}, out ${turns * 20}, cache read ${turns * 40}, cache write 0, total 1`,
  ];
  say(id, lines.join('\n'));
  return { stopReason: 'end_turn' };
}

const usage = { inputTokens: 60, cachedReadTokens: 40, outputTokens: 20, totalTokens: 120 };

async function play(id, text, session) {
  const done = (answer, more) => {
    session.history.push(answer);
    say(id, answer, more?.name);
    return { stopReason: 'end_turn', usage };
  };
  const [word, ...rest] = text.split(' ');
  const given = rest.join(' ');
  switch (word) {
    case 'never':
      return new Promise(() => {});
    case 'deaf':
      session.cancel = () => {};
      say(id, 'I begin.');
      return new Promise(() => {});
    case 'wait':
      say(id, 'I begin.');
      update(id, { sessionUpdate: 'tool_call', toolCallId: 't1', title: 'wait', kind: 'execute' });
      await until(() => existsSync(given));
      return done('the answer');
    case 'exits':
      say(id, 'I begin.');
      console.error('The engine is broken.');
      process.exit(3);
      break;
    case 'error':
      throw { code: Number(rest[0]), message: rest.slice(1).join(' ') };
    case 'stops':
      return { stopReason: given };
    case 'mute':
      return { stopReason: 'end_turn' };
    case 'noisy':
      return noise(id, done);
    case 'bare':
      session.history.push('the answer');
      say(id, 'the answer');
      return { stopReason: 'end_turn' };
    case 'retries':
      say(id, 'Half an ans');
      say(id, 'Retrying (attempt 1/3, waiting 2s)...');
      say(id, 'Retry finished, resuming.');
      return done(given);
    case 'fails':
      session.history.push('');
      session.fault = given;
      say(id, 'Retrying (attempt 1/3, waiting 2s)...');
      return { stopReason: 'end_turn' };
    case 'costs':
      session.usd = (session.usd ?? 0) + Number(given);
      update(id, {
        sessionUpdate: 'usage_update',
        used: 1,
        size: 2,
        cost: { amount: session.usd, currency: 'USD' },
      });
      return done('the answer');
    case 'calls':
      for (let n = 0; n < Number(given); n += 1)
        update(id, { sessionUpdate: 'tool_call', toolCallId: `t${n}`, title: 'a call' });
      return done('the answer');
    case 'totals': {
      const times = (count) => count * Number(given);
      const totals = Object.entries(usage).map(([name, count]) => [name, times(count)]);
      return { ...done('the answer'), usage: Object.fromEntries(totals) };
    }
    case 'meters':
      for (const part of ['the ', 'answer'])
        update(id, {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text: part },
          _meta: {
            usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20, totalTokens: 120 },
          },
        });
      return { stopReason: 'end_turn' };
    case 'wants':
      return wants(id, JSON.parse(given), done);
    case 'says':
      return done(given);
    default:
      return done(abilities.has('echo') ? `A${session.history.length >> 1}` : 'the answer');
  }
}

async function until(holds) {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Everything that a client should not trip over. */
async function noise(id, done) {
  process.stdout.write('not json\n{"half": \n\n[]\nnull\n"text"\n\u0000\u001b[31mred\n');
  process.stdout.write(`${'x'.repeat(40 * 1024 * 1024)}\n`);
  write({ id: 'nobody-asked', result: {} });
  write({ id: null, error: { code: -32700, message: 'Parse error' } });
  write({ method: 'session/update', params: null });
  write({ method: 'session/update', params: { sessionId: 'another', update: null } });
  write({ method: '_vendor/news', params: { deep: [1, { a: null }] } });
  update(id, { sessionUpdate: 'from_the_future', content: 7 });
  update(id, { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: '' } });
  update(id, { sessionUpdate: 'tool_call', toolCallId: 9, title: { no: 1 } });
  say('another', 'I speak in another session.');
  const refused = await ask('fs/read_text_file', { sessionId: id, path: '/etc/passwd' });
  say(id, `files: ${refused.error?.code} `, 'm1');
  say(id, 'A remark of the program.');
  return done('the answer', { name: 'm2' });
}

/**
 * `reported` are the arguments in the report of the call, which comes after the request if it is `late`. `then`
 * is the answer if the call is allowed.
 */
async function wants(id, { options, call, session = id, reported, late, then }, done) {
  const toolCall = { toolCallId: 'w1', ...call };
  const report = { title: 'a call', ...toolCall, ...(reported && { rawInput: reported }) };
  update(id, { sessionUpdate: 'tool_call', ...report, ...(late && { rawInput: { cwd: '/' } }) });
  const replying = ask('session/request_permission', { sessionId: session, toolCall, options });
  if (late) update(id, { sessionUpdate: 'tool_call_update', ...report });
  const reply = await replying;
  if (then && reply.result?.outcome?.optionId === 'yes') {
    appendFileSync(join(home, 'made.txt'), `${call.title}\n`);
    return done(then);
  }
  return done(`reply: ${JSON.stringify(reply.result?.outcome ?? reply)}`);
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, ...reply } = JSON.parse(line);
  if (method === undefined) return void waiting.get(id)?.(reply);
  if (method === 'session/cancel') return void sessions.get(params.sessionId)?.cancel();
  if (abilities.has('asleep') && method === 'initialize') return;
  const play = methods[method];
  const isOffered =
    !['session/fork', 'session/load', 'session/resume'].includes(method) ||
    abilities.has(method.slice('session/'.length));
  if (!play || !isOffered)
    return write({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  try {
    write({ id, result: await play(params) });
  } catch (error) {
    write({ id, error });
  }
});
// Like most agents, it ends with its input.
process.stdin.on('end', () => process.exit(0));
