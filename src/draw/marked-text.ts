import { mentionsOf } from '../graph/mentions.ts';
import { escapeText } from '../model/escape.ts';
import type { PromptState, ScriptState } from '../model/workflow.ts';

/** A state's text as HTML, with its tags and placeholders marked. */
export function markedText(state: PromptState | ScriptState): string {
  const text = state.kind === 'prompt' ? state.template : state.text;
  const marks = [...tagMarks(state), ...(state.kind === 'prompt' ? placeholderMarks(text) : [])];
  marks.sort((a, b) => a.from - b.from);
  let html = '';
  let at = 0;
  for (const { from, to, kind } of marks) {
    // A placeholder inside a tag is part of the tag.
    if (from < at) continue;
    html += escapeText(text.slice(at, from));
    html += `<span class="${kind}">${escapeText(text.slice(from, to))}</span>`;
    at = to;
  }
  return html + escapeText(text.slice(at));
}

interface Mark {
  readonly from: number;
  readonly to: number;
  readonly kind: 'tag' | 'value';
}

function tagMarks(state: PromptState | ScriptState): readonly Mark[] {
  const tags = mentionsOf(state).filter(({ kind }) => kind === 'tag');
  return tags.map(({ from, to }) => ({ from, to, kind: 'tag' }));
}

function placeholderMarks(text: string): readonly Mark[] {
  return [...text.matchAll(/\{\{[A-Za-z_]\w*\}\}/g)].map(({ index, 0: written }) => ({
    from: index,
    to: index + written.length,
    kind: 'value',
  }));
}
