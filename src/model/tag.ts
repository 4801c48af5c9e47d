export const TRANSITION_TAGS = [
  'goto',
  'reset',
  'compact',
  'call',
  'function',
  'fork',
  'join',
  'ask',
  'result',
  'call-workflow',
  'function-workflow',
  'fork-workflow',
  'reset-workflow',
] as const;

export type TagName = (typeof TRANSITION_TAGS)[number];

/** A tag as written: entities in attribute values decoded, body untouched. */
export interface Tag {
  readonly name: TagName;
  readonly attributes: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A tag that was closed but cannot be read, for example because of an unquoted or repeated
 * attribute.
 */
export interface BadTag {
  readonly name: TagName;
  readonly problem: string;
}

export interface TagReading {
  readonly tags: readonly Tag[];
  readonly bad: readonly BadTag[];
  /** A sentence that says what a text contains instead of a tag. */
  readonly near?: string | undefined;
}

/**
 * The operations that the reader of tags needs. A string has them, and so does a large file that is
 * read through a window. The offsets of a file are in bytes.
 */
export interface OutputText {
  readonly length: number;
  charCodeAt(index: number): number;
  indexOf(needle: string, from?: number): number;
  slice(from: number, to: number): string;
}
