import type { Agents } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Policy, TextPlace } from '../model/workflow.ts';
import { NO_POLICY, policyKeys, readPolicy } from './policy.ts';
import { YamlReader } from './yaml-reader.ts';

interface PromptText {
  readonly template: string;
  readonly place: TextPlace;
  readonly policy: Policy;
  readonly diagnostics: readonly Diagnostic[];
}

/** A prompt file: YAML between two `---` lines at the very start, if any, and then the template. */
export function readPrompt(file: string, text: string, agents: Agents): PromptText {
  const split = splitFrontMatter(text);
  if (split === 'none' || split === 'unclosed') {
    const diagnostics =
      split === 'unclosed' ? [unclosed(file)] : lateFrontMatter(file, text, agents);
    return { template: text, place: placeIn(file, 1), policy: NO_POLICY, diagnostics };
  }
  const reader = new YamlReader(file, split.yaml, 1);
  const policy = reader.errorCount() > 0 ? NO_POLICY : readRoot(reader, agents);
  return {
    template: split.template,
    place: placeIn(file, 1 + countLines(text.slice(0, text.length - split.template.length))),
    policy,
    diagnostics: reader.takeFaults(),
  };
}

/** A text that fills the rest of its file. */
export function placeIn(file: string, line: number): TextPlace {
  return { file, line, column: 1, indent: 1 };
}

type Split = 'none' | 'unclosed' | { readonly yaml: string; readonly template: string };

export function splitFrontMatter(text: string): Split {
  const open = /^\uFEFF?---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!open) return 'none';
  const rest = text.slice(open[0].length);
  const close = /(?:^|\r?\n)---[ \t]*\r?(?:\n|$)/.exec(rest);
  if (!close) return 'unclosed';
  return {
    yaml: rest.slice(0, close.index),
    template: rest.slice(close.index + close[0].length),
  };
}

function unclosed(file: string): Diagnostic {
  return {
    severity: 'error',
    code: 'unclosed-front-matter',
    file,
    line: 1,
    column: 1,
    message: 'Front matter begins here and never ends.',
    remedy: 'Close it with a line ---, or start the prompt with another line.',
  };
}

/** After blank lines or comments, front matter would be part of the prompt and have no effect. */
function lateFrontMatter(file: string, text: string, agents: Agents): readonly Diagnostic[] {
  const at = afterComments(text);
  const split = at === 0 ? 'none' : splitFrontMatter(text.slice(at));
  if (typeof split === 'string' || !hasKey(split.yaml, policyKeys(agents))) return [];
  const line = 1 + countLines(text.slice(0, at));
  return [
    {
      severity: 'error',
      code: 'late-front-matter',
      file,
      line,
      column: 1,
      message: `Front matter begins on line ${line}, but Raymond reads it only at the very start of a file.`,
      remedy: 'Move it to the first line, before everything else.',
    },
  ];
}

function hasKey(yaml: string, keys: readonly string[]): boolean {
  return new RegExp(`^(?:${keys.join('|')})[ \\t]*:`, 'm').test(yaml);
}

/** The start of the first line after blank lines and HTML comments. */
function afterComments(text: string): number {
  let at = 0;
  while (true) {
    while (at < text.length && /[\s\uFEFF]/.test(text.charAt(at))) at += 1;
    const end = text.startsWith('<!--', at) ? text.indexOf('-->', at) : -1;
    if (end < 0) break;
    at = end + 3;
  }
  return text.charAt(at - 1) === '\n' ? at : 0;
}

function readRoot(reader: YamlReader, agents: Agents): Policy {
  if (reader.isEmpty(reader.root)) return NO_POLICY;
  const expected = 'keys with values, like timeout: 60';
  const fields = reader.fields(reader.root, 'Front matter', expected, policyKeys(agents));
  return fields ? readPolicy(reader, fields, agents) : NO_POLICY;
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}
