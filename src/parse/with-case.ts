/** Adds a case to the text of an eval. Comments and everything else stay as the author wrote them. */
import { Document, isMap, isSeq, parseDocument } from 'yaml';
import type { EvalCase } from './eval-file.ts';

/** Undefined if the text has no place for it. */
export function withCase(text: string | undefined, added: EvalCase): string | undefined {
  if (text === undefined || text.trim() === '')
    return `${NEW}${written(new Document({ cases: [added] }))}`;
  const document = parseDocument(text);
  if (document.errors.length > 0) return undefined;
  if (document.contents === null)
    return `${text.trimEnd()}\n${written(new Document({ cases: [added] }))}`;
  if (!isMap(document.contents)) return undefined;
  const cases = document.contents.get('cases');
  if (isSeq(cases)) {
    cases.flow = false;
    document.addIn(['cases'], document.createNode(added));
  } else if (cases === undefined || cases === null) document.set('cases', [added]);
  else return undefined;
  return written(document);
}

const NEW = `# Compares variants of this workflow: raymond eval
# Add scorers, which say how good a result is, and variants, which say what to try.
`;

const written = (document: Document) => document.toString({ lineWidth: 0 });
