/**
 * Text of an agent as HTML. Everything in it is hostile: an agent repeats what it read. Tags in it are
 * shown as text, so a reader sees `<goto>` as the agent wrote it. What is left after the cleaning has no
 * script, no style, no form and no address that the browser would load.
 */
import purify from 'dompurify';
import { Marked } from 'marked';

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: { html: ({ text }) => escaped(text), image: ({ text }) => escaped(text) },
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
  ],
  ALLOWED_ATTR: ['href', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^https?:/i,
};

// A link opens beside the page, and its target learns nothing about this address.
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});
