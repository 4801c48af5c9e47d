// A generateContent API on loopback that answers from a test's script and records the conversations.
import type { ServerResponse } from 'node:http';
import { type Answer, type Asked, USAGE, type Wire } from './scripted-api.ts';

export const GEMINI: Wire = {
  read: (path, body) => {
    const model = /\/models\/([^:]+):streamGenerateContent/.exec(path)?.[1];
    return model === undefined ? undefined : readAsked(model, body as Body);
  },
  answer,
};

async function answer(response: ServerResponse, reply: Answer): Promise<void> {
  const { input, cached, output } = reply.usage ?? USAGE;
  response.flushHeaders();
  await reply.after;
  const call = reply.tool && { functionCall: { name: reply.tool.name, args: reply.tool.input } };
  const parts = [...(reply.text === '' ? [] : [{ text: reply.text }]), ...(call ? [call] : [])];
  const chunk = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
  };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}

interface Body {
  readonly contents: readonly {
    readonly role: string;
    readonly parts: readonly { readonly text?: string; readonly functionResponse?: unknown }[];
  }[];
  readonly tools?: readonly {
    readonly functionDeclarations?: readonly { readonly name: string }[];
  }[];
}

function readAsked(model: string, { contents, tools = [] }: Body): Asked {
  const results = contents
    .at(-1)
    ?.parts.flatMap(({ functionResponse: result }) => (result ? JSON.stringify(result) : []));
  const said = contents
    .map(({ role, parts }) => ({
      role: role === 'model' ? 'assistant' : 'user',
      // Gemini describes the surroundings before the first message.
      texts: parts.flatMap(({ text }) => (text?.includes('<session_context>') ? [] : (text ?? []))),
    }))
    .map(({ role, texts }) => ({ role, text: texts.join('').trim() }))
    .filter(({ text }) => text !== '');
  return {
    model,
    effort: undefined,
    lines: said.map(({ role, text }) => `${role}: ${text}`),
    prompt: results?.join('\n') || (said.findLast(({ role }) => role === 'user')?.text ?? ''),
    tools: tools.flatMap((one) => one.functionDeclarations?.map(({ name }) => name) ?? []),
  };
}
