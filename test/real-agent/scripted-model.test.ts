import { afterEach, describe, expect, it } from 'vitest';
import { history, readRequest } from './model-request.ts';
import {
  faults,
  rateLimited,
  type Script,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts';

const open: ScriptedModel[] = [];
afterEach(async () => {
  for (const model of open.splice(0)) await model.close();
});

async function start(script: Script): Promise<ScriptedModel> {
  const model = await scriptedModel(script);
  open.push(model);
  return model;
}

function ask(model: ScriptedModel, more: object = {}): Promise<Response> {
  const body = {
    model: 'm',
    stream: true,
    tools: [{ name: 'Bash' }],
    messages: [{ role: 'user', content: 'Q' }],
    ...more,
  };
  return fetch(`${model.url}/v1/messages?beta=true`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
}

describe('the scripted model', () => {
  it('streams its replies in order and repeats the last one', async () => {
    const model = await start(['first', 'second']);
    const answers = [];
    for (let turn = 0; turn < 3; turn++)
      answers.push(streamedText(await (await ask(model)).text()));
    expect(answers).toEqual(['first', 'second', 'second']);
    expect(model.requests).toHaveLength(3);
  });

  it('calls tools', async () => {
    const model = await start([
      { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }] },
    ]);
    const stream = await (await ask(model)).text();
    expect(stream).toContain('"stop_reason":"tool_use"');
    const whole = await (await ask(model, { stream: false })).json();
    expect(whole).toMatchObject({ content: [{ name: 'Bash', input: { command: 'ls' } }] });
  });

  it('answers side requests without using up the script', async () => {
    const model = await start(['scripted']);
    expect(streamedText(await (await ask(model, { tools: [] })).text())).toBe('ok');
    expect(
      await (await fetch(`${model.url}/v1/messages/count_tokens`, { method: 'POST' })).json(),
    ).toEqual({ input_tokens: 1 });
    expect((await fetch(model.url, { method: 'HEAD' })).status).toBe(200);
    expect([model.requests.length, model.sideRequests.length]).toEqual([0, 1]);
  });

  it('delays an answer until its gate opens', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const model = await start([{ content: 'half half', pause: gate }]);
    const reader = (await ask(model)).body?.getReader();
    await model.arrived(1);
    let heard = '';
    const hearUntil = async (text: string) => {
      while (!heard.includes(text))
        heard += new TextDecoder().decode((await reader?.read())?.value);
    };
    await hearUntil('text_delta');
    expect(heard).not.toContain('message_stop');
    release();
    await hearUntil('message_stop');
    expect(streamedText(heard)).toBe('half half');
  });

  it('fails as the script says', async () => {
    const model = await start([
      faults.overloaded,
      rateLimited({ 'retry-after': '7' }),
      faults.reset,
      faults.dropped,
    ]);
    expect((await ask(model)).status).toBe(529);
    expect((await ask(model)).headers.get('retry-after')).toBe('7');
    await expect(ask(model)).rejects.toThrow();
    await expect(ask(model).then((response) => response.text())).rejects.toThrow();
  });
});

describe('the history', () => {
  const request = (messages: object[], system = '') =>
    readRequest(
      JSON.stringify({ model: 'm', system: [{ text: system }], messages, tools: [{ name: 'T' }] }),
    );

  it('is the conversation without the additions of Claude Code', () => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nToday\n</system-reminder>\n\n' },
          { type: 'text', text: 'one\n' },
        ],
      },
      { role: 'system', content: 'Available agent types' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', content: 'a b' }] },
      { role: 'assistant', content: 'two' },
    ];
    expect(history(request(messages))).toEqual([
      { role: 'user', text: 'one' },
      { role: 'assistant', text: '[Bash {"command":"ls"}]' },
      { role: 'user', text: '[result a b]' },
      { role: 'assistant', text: 'two' },
    ]);
  });

  it('belongs to a conversation or to a subagent', () => {
    expect(request([]).purpose).toBe('conversation');
    expect(request([], 'cc_entrypoint=sdk-cli; cc_is_subagent=true;').purpose).toBe('subagent');
  });
});

function streamedText(stream: string): string {
  return [...stream.matchAll(/"type":"text_delta","text":"([^"]*)"/g)]
    .map(([, text]) => text)
    .join('');
}
