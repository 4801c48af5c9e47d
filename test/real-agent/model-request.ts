// Reads requests to the model into a form that tests can compare.

export interface ModelRequest {
  /** `side`: a request that Claude Code makes for itself, such as a title or a summary. */
  readonly purpose: 'conversation' | 'subagent' | 'side';
  readonly model: string;
  readonly effort: string | undefined;
  readonly thinking: unknown;
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly string[];
  readonly isStreamed: boolean;
}

interface Message {
  readonly role: string;
  readonly content: string | readonly ContentBlock[];
}

interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly content?: unknown;
  /** Of the result of a tool. */
  readonly is_error?: boolean;
}

interface RequestBody {
  readonly model: string;
  readonly system?: string | readonly { readonly text: string }[];
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly name: string }[];
  readonly stream?: boolean;
  readonly thinking?: unknown;
  readonly output_config?: { readonly effort?: string };
}

export function readRequest(json: string): ModelRequest {
  const body: RequestBody = JSON.parse(json);
  const system = systemText(body.system ?? []);
  const tools = (body.tools ?? []).map((tool) => tool.name);
  return {
    purpose: purpose(system, tools),
    model: body.model,
    effort: body.output_config?.effort,
    thinking: body.thinking,
    system,
    messages: body.messages,
    tools,
    isStreamed: body.stream === true,
  };
}

function systemText(system: string | readonly { readonly text: string }[]): string {
  return typeof system === 'string' ? system : system.map(({ text }) => text).join('\n');
}

function purpose(system: string, tools: readonly string[]): ModelRequest['purpose'] {
  // A model that fills placeholders has no tools.
  if (tools.length === 0 && !system.includes('You fill placeholders')) return 'side';
  return system.includes('cc_is_subagent=true') ? 'subagent' : 'conversation';
}

export interface HistoryMessage {
  readonly role: string;
  readonly text: string;
}

/** The conversation as the model saw it, without the additions of Claude Code. */
export function history(request: ModelRequest): HistoryMessage[] {
  return request.messages
    .filter(({ role }) => role !== 'system')
    .flatMap(({ role, content }) => blocks(content).map((block) => ({ role, text: told(block) })))
    .filter(({ text }) => text !== '');
}

function blocks(content: Message['content']): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

const additions = ['system-reminder', 'local-command-[a-z]+', 'command-[a-z]+'].map(
  (tag) => new RegExp(`<(${tag})>[\\s\\S]*?</\\1>\\s*`, 'g'),
);

function told(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return additions
        .reduce((text, addition) => text.replace(addition, ''), block.text ?? '')
        .trimEnd();
    case 'tool_use':
      return `[${block.name} ${JSON.stringify(block.input)}]`;
    case 'tool_result':
      return `[result ${resultText(block.content)}]`;
    default:
      return '';
  }
}

function resultText(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
