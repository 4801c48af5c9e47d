/** The run options of Claude Code, by the name of the choice. */
import type { OptionSpec } from '../../model/option.ts';
import { nearest } from '../../parse/nearest.ts';
import { STATE_MODES } from '../agents/permission-modes.ts';
import { EFFORTS, isModel, isWord, MODELS, PERMISSION_MODES } from './known-names.ts';

export const CLAUDE_OPTIONS = {
  model: {
    name: 'model',
    kind: 'text',
    placeholder: 'name',
    meaning:
      'model for states that name none, or several in order: opus, sonnet, haiku or a full id',
    example: '"sonnet"',
    known: MODELS,
    hasAlternatives: true,
    check: modelProblem,
    inProject: 'harmless',
    inTests: true,
  },
  effort: {
    name: 'effort',
    kind: 'text',
    placeholder: 'level',
    meaning: `effort for states that name none: ${EFFORTS.join(', ')}`,
    example: '"medium"',
    known: EFFORTS,
    check: (value) => (isWord(value) ? undefined : `name one of ${EFFORTS.join(', ')}`),
    inProject: 'harmless',
    inTests: true,
  },
  permissionMode: {
    name: 'permission-mode',
    kind: 'text',
    placeholder: 'mode',
    meaning: 'what the agent may do without asking (default acceptEdits)',
    example: '"acceptEdits"',
    known: PERMISSION_MODES,
    check: (value) => (isWord(value) ? undefined : 'name a mode such as acceptEdits or plan'),
    inProject: (mode) => !STATE_MODES.includes(String(mode)),
    inTests: true,
  },
  skipPermissions: {
    name: 'dangerously-skip-permissions',
    kind: 'flag',
    meaning: 'let the agent do anything without asking: only where it can do no harm',
    example: 'false',
    inProject: (skip) => skip === true,
    inTests: true,
  },
  allowedTools: {
    name: 'allowed-tools',
    kind: 'list',
    placeholder: 'rules',
    meaning:
      'tools that the agent may use without asking, besides those of its state; may be repeated',
    example: '["Bash(git log:*)"]',
    inProject: 'dangerous',
  },
  disallowedTools: {
    name: 'disallowed-tools',
    kind: 'list',
    placeholder: 'rules',
    meaning: 'tools that the agent must not use, besides those of its state; may be repeated',
    example: '["WebFetch"]',
    inProject: 'harmless',
  },
  mcpConfig: {
    name: 'mcp-config',
    kind: 'list',
    placeholder: 'file',
    meaning: 'MCP servers for the agent, from a JSON file; may be repeated',
    example: '["mcp.json"]',
    path: 'file or JSON',
    inProject: 'dangerous',
  },
  agentSettings: {
    name: 'settings',
    kind: 'text',
    placeholder: 'file-or-json',
    meaning: "settings for the agent; Raymond's own rules stay",
    example: '"agent.json"',
    check: argumentProblem,
    path: 'file or JSON',
    inProject: 'dangerous',
  },
  addDir: {
    name: 'add-dir',
    kind: 'list',
    placeholder: 'folder',
    meaning: 'a further folder that the agent may use; may be repeated',
    example: '["../library"]',
    path: 'file',
    inProject: 'dangerous',
  },
  appendSystemPrompt: {
    name: 'append-system-prompt',
    kind: 'text',
    placeholder: 'text',
    meaning: "text to add to the agent's system prompt",
    example: '"..."',
    check: argumentProblem,
    holdsOptions: true,
    inProject: 'dangerous',
  },
  agentArgs: {
    name: 'agent-args',
    kind: 'text',
    placeholder: 'arguments',
    meaning:
      'further options for the agent, as one text; those that would disturb Raymond are refused',
    example: '"--strict-mcp-config"',
    check: argumentProblem,
    holdsOptions: true,
    inProject: 'dangerous',
  },
  claudePath: {
    name: 'claude-path',
    kind: 'text',
    meaning: 'the claude executable, if it is not the one in PATH; RAYMOND_CLAUDE overrides it',
    example: '"/usr/local/bin/claude"',
    only: 'config',
    path: 'program',
    inProject: 'dangerous',
  },
} as const satisfies Readonly<Record<string, OptionSpec>>;

/** The operating system limits the arguments of a program. */
function argumentProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'leave out the character U+0000';
  return text.length > 60_000 ? 'write at most 60000 characters' : undefined;
}

function modelProblem(text: string): string | undefined {
  const meant = isModel(text) ? undefined : nearest(text, MODELS);
  if (meant !== undefined) return `did you mean ${meant}?`;
  // Another agent may know it. The start of a run compares it with the agent that takes the prompts.
  return /^[A-Za-z0-9][\w./:@[\]-]{0,199}$/.test(text) ? undefined : 'name a model such as opus';
}
