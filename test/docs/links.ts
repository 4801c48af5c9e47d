/** The links of a document, and whether each leads to a file and a heading that exist. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Document, proseOf, readDocument } from './documents.ts';

export interface Link {
  /** The document with the link. */
  readonly path: string;
  readonly link: string;
}

export function linksOf(document: Document): readonly Link[] {
  const found = [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)];
  return found.map(([, link = '']) => ({ path: document.path, link }));
}

export function isLocal({ link }: Link): boolean {
  return !/^[a-z]+:/.test(link);
}

/** The target of a local link, relative to the folder of the documents. */
export function targetOf({ path, link }: Link): string {
  const [file = ''] = link.split('#');
  return file === '' ? path : normalize(join(dirname(path), file));
}

/** Why a local link leads nowhere; undefined if it is good. `folder` contains the documents. */
export function linkProblem(folder: string, link: Link): string | undefined {
  const target = targetOf(link);
  if (!existsSync(join(folder, target))) return `${target} does not exist`;
  const [, anchor] = link.link.split('#');
  if (anchor === undefined || anchorsOf(folder, target).includes(anchor)) return undefined;
  return `${target} has no heading #${anchor}`;
}

/** Named as on GitHub. */
function anchorsOf(folder: string, path: string): readonly string[] {
  const headings = [...proseOf(readDocument(path, folder)).matchAll(/^#{1,6} (.+)$/gm)];
  return headings.map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
