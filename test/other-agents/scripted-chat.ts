// A chat completions API on loopback that answers from a test's script and records the conversations.
import type { ServerResponse } from 'node:http';
import { type Answer, type Asked, USAGE, type Wire } from './scripted-api.ts';

export const CHAT: Wire = {
  read: (path, body) => (path === '/v1/chat/completions' ? readAsked(body as Body) : undefined),
  answer,
};

async function answer(response: ServerResponse, reply: Answer, number: number): Promise<void> {
  const { input, cached, output } = reply.usage ?? USAGE;
  const id = `chat_${number}`;
  const send = (choices: readonly unknown[], more: object = {}) => {
    const chunk = { id, object: 'chat.completion.chunk', created: 1, model: 'scripted', choices };
    response.write(`data: ${JSON.stringify({ ...chunk, ...more })}\n\n`);
  };
  send([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
  const say = (content: string) =>
    content !== '' && send([{ index: 0, delta: { content }, finish_reason: null }]);
  say(reply.beginning ?? '');
  await reply.after;
  say(reply.text);
  if (reply.tool) {
    const { name, input: args } = reply.tool;
    const call = {
      index: 0,
      id: `call_${number}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    };
    send([{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }]);
  }
  send([{ index: 0, delta: {}, finish_reason: reply.tool ? 'tool_calls' : 'stop' }]);
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
  send([], { usage });
  response.write('data: [DONE]\n\n');
}

/** Additions of qwen and copilot to a message. */
const REMINDER =
  /<system-reminder>.*?<\/system-reminder>|<(current_datetime|system_reminder|reminder)>.*?<\/\1>\s*/gs;

interface Body {
  readonly model: string;
  readonly reasoning_effort?: string;
  readonly tools?: readonly { readonly function?: { readonly name: string } }[];
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string | readonly { readonly text?: string }[] | null;
  }[];
}

function readAsked({ model, reasoning_effort, messages, tools = [] }: Body): Asked {
  const said = messages.map(({ role, content }) => ({
    role,
    text: (typeof content === 'string' ? content : (content ?? []).map(({ text }) => text).join(''))
      .replaceAll(REMINDER, '')
      .trim(),
  }));
  return {
    model,
    effort: reasoning_effort,
    lines: said
      .filter(({ role, text }) => (role === 'user' || role === 'assistant') && text !== '')
      .map(({ role, text }) => `${role}: ${text}`),
    prompt: said.findLast(({ role }) => role === 'user' || role === 'tool')?.text ?? '',
    tools: tools.flatMap((tool) => tool.function?.name ?? []),
  };
}
