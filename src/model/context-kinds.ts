/** The kinds of text in a session, in words. `system` is what the agent itself adds. */
export const CONTEXT_WORDS = {
  system: 'instructions, tools',
  handover: 'handover',
  prompts: 'prompts',
  answers: 'answers',
  tool_calls: 'tool calls',
  tool_results: 'tool results',
} as const;

export type ContextKind = keyof typeof CONTEXT_WORDS;

export const CONTEXT_KINDS: readonly ContextKind[] = [
  'system',
  'handover',
  'prompts',
  'answers',
  'tool_calls',
  'tool_results',
];
