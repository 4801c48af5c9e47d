/**
 * Text of an agent as HTML. Everything in it is hostile: an agent repeats what it read. A transition tag
 * is shown as what it does, and other tags as text. What is left after the cleaning has no script, no
 * style, no form and no address that the browser would load.
 */
import purify from 'dompurify';
import { Marked, type TokenizerAndRendererExtension } from 'marked';
import { TAG_NAMES, tagWords } from './tag-words.ts';

/** `<goto>FIX</goto>`, with attributes or without a body. Code has its own tokens, so it stays code. */
const TAG = new RegExp(
  `^<(${TAG_NAMES.join('|')})((?:\\s[^<>]{0,400})?)(?:/>|>([^<]{0,4000})</\\1>)`,
);

const transition = (level: 'block' | 'inline'): TokenizerAndRendererExtension => ({
  name: `${level}-transition`,
  level,
  start: (text) => text.indexOf('<'),
  tokenizer(text) {
    const found = TAG.exec(text);
    if (!found) return undefined;
    const [raw, name = '', attributes = '', body = ''] = found;
    return { type: `${level}-transition`, raw, words: tagWords(name, attributes, body) };
  },
  renderer({ words: { does, what } }) {
    const about = what === '' ? '' : ` <b>${escaped(what)}</b>`;
    const chip = `<span class="tag">${escaped(does)}${about}</span>`;
    return level === 'block' ? `<p>${chip}</p>\n` : chip;
  },
});

const marked = new Marked({
  gfm: true,
  breaks: true,
  extensions: [transition('block'), transition('inline')],
  renderer: {
    html: ({ text }) => escaped(text),
    image: ({ text }) => escaped(text),
    checkbox: ({ checked }) =>
      `<span class="task">${checked ? '☑' : '☐'}</span><span class="visually-hidden">${checked ? 'done: ' : 'open: '}</span>`,
  },
});

export function htmlOf(text: string): string {
  return purify.sanitize(marked.parse(text, { async: false }), RULES);
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const RULES = {
  ALLOWED_TAGS: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code'],
    ...['ul', 'ol', 'li', 'strong', 'em', 'del', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
    ...['span', 'b'],
  ],
  ALLOWED_ATTR: ['href', 'start', 'align', 'class'],
  ALLOWED_URI_REGEXP: /^https?:/i,
};

/** The classes that this file and the reader of code blocks give. */
const CLASSES = /^(?:tag|task|visually-hidden|language-[\w+-]{1,20})$/;

// A link opens beside the page, and its target learns nothing about this address.
purify.addHook('afterSanitizeAttributes', (node) => {
  if (!CLASSES.test(node.getAttribute('class') ?? '')) node.removeAttribute('class');
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});
