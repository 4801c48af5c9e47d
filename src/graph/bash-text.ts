/**
 * Finds what bash does not print as written: comments, and the quotes around words. It knows quotes,
 * substitutions, here-documents and comments, and nothing else of the shell.
 */
interface BashText {
  /** Start and end of each comment, including those of programs in here-documents. */
  readonly comments: readonly Range[];
  /** The offsets of the quotes that bash removes, in order. */
  readonly quotes: readonly number[];
}

type Range = readonly [from: number, to: number];

/** Undefined if a quote or a here-document never ends, because then the reading cannot be right. */
export function readBash(script: string): BashText | undefined {
  const reader = new Reader(script);
  let at: number | undefined = 0;
  while (at !== undefined && at < script.length) at = reader.next(at);
  return at === undefined || reader.isInQuotes ? undefined : reader;
}

type Context = 'quotes' | 'command' | 'arithmetic' | 'parameter' | 'backticks';

const CLOSERS: Readonly<Record<Context, string>> = {
  quotes: '"',
  command: ')',
  arithmetic: ')',
  parameter: '}',
  backticks: '`',
};

class Reader implements BashText {
  readonly comments: Range[] = [];
  readonly quotes: number[] = [];
  readonly #script: string;
  readonly #contexts: Context[] = [];
  #openQuotes = 0;
  /** The here-documents that begin after the current line. */
  #pending: HereDocument[] = [];

  constructor(script: string) {
    this.#script = script;
  }

  get isInQuotes(): boolean {
    return this.#openQuotes > 0;
  }

  /** The offset after the token at an offset; undefined if it never ends. */
  next(at: number): number | undefined {
    const char = this.#script.charAt(at);
    const context = this.#contexts.at(-1);
    if (char === '\\') return at + 2;
    if (context && char === CLOSERS[context]) return this.#close(at, context);
    if (char === '`') return this.#open(at, 'backticks', 1);
    if (char === '$') return this.#substitution(at);
    if (context === 'quotes') return at + 1;
    if (char === '"') return this.#open(at, 'quotes', 1);
    if (char === "'" && !(context === 'parameter' && this.isInQuotes)) return this.#single(at);
    if (context === 'parameter') return at + 1;
    if (char === '(') {
      const isSum = context === 'arithmetic' || this.#script.charAt(at + 1) === '(';
      return this.#open(at, isSum ? 'arithmetic' : 'command', 1);
    }
    if (context === 'arithmetic') return at + 1;
    if (char === '#' && this.#beginsWord(at)) return this.#comment(at);
    if (char === '<') return this.#redirection(at);
    return char === '\n' ? this.#documents(at + 1) : at + 1;
  }

  #open(at: number, context: Context, length: number): number {
    this.#contexts.push(context);
    if (context === 'quotes') {
      this.#drop(at);
      this.#openQuotes++;
    }
    return at + length;
  }

  #close(at: number, context: Context): number {
    this.#contexts.pop();
    if (context === 'quotes') {
      this.#openQuotes--;
      this.#drop(at);
    }
    return at + 1;
  }

  /** Quotes in a substitution between quotes belong to its command, and not to what is printed. */
  #drop(at: number): void {
    if (!this.isInQuotes) this.quotes.push(at);
  }

  #substitution(at: number): number | undefined {
    const following = this.#script.charAt(at + 1);
    if (following === '{') return this.#open(at, 'parameter', 2);
    if (following === '(') {
      const isSum = this.#script.charAt(at + 2) === '(';
      return this.#open(at, isSum ? 'arithmetic' : 'command', 2);
    }
    const isEscaping = following === "'" && this.#contexts.at(-1) !== 'quotes';
    return isEscaping ? this.#single(at + 1, '\\') : at + 1;
  }

  #single(at: number, escaping?: string): number | undefined {
    for (let end = at + 1; end < this.#script.length; end++) {
      const char = this.#script.charAt(end);
      if (char === escaping) end++;
      if (char !== "'") continue;
      this.#drop(at);
      this.#drop(end);
      return end + 1;
    }
    return undefined;
  }

  #beginsWord(at: number): boolean {
    return at === 0 || /[\s;&|()]/.test(this.#script.charAt(at - 1));
  }

  #comment(at: number): number {
    const end = lineEnd(this.#script, at);
    this.comments.push([at, end]);
    return end;
  }

  #redirection(at: number): number {
    // A here-string, <<<, is no here-document.
    if (this.#script.startsWith('<<<', at)) return at + 3;
    HERE.lastIndex = at;
    const [written, dash, , word] = HERE.exec(this.#script) ?? [];
    if (written === undefined || word === undefined) return at + 1;
    const command = this.#script.slice(Math.max(0, at - LONGEST_COMMAND), at);
    const isProgram = PROGRAM.test(command.slice(command.lastIndexOf('\n') + 1));
    this.#pending.push({ word, isIndented: dash === '-', isProgram });
    return at + written.length;
  }

  /** Passes over the here-documents of the line that has ended. Bash reads no quotes in them. */
  #documents(from: number): number | undefined {
    let at = from;
    for (const document of this.#pending) {
      const end = this.#documentEnd(at, document);
      if (end === undefined) return undefined;
      at = end;
    }
    this.#pending = [];
    return at;
  }

  #documentEnd(from: number, { word, isIndented, isProgram }: HereDocument): number | undefined {
    for (let at = from; at < this.#script.length; ) {
      const end = lineEnd(this.#script, at);
      const line = this.#script.slice(at, end);
      if ((isIndented ? line.replace(/^\t+/, '') : line) === word) return end + 1;
      const comment = isProgram ? commentIn(line) : undefined;
      if (comment !== undefined) this.comments.push([at + comment, end]);
      at = end + 1;
    }
    return undefined;
  }
}

interface HereDocument {
  readonly word: string;
  readonly isIndented: boolean;
  /** Another program executes the text, so that it may contain comments. */
  readonly isProgram: boolean;
}

const HERE = /<<(-?)[ \t]*(["']?|\\)([A-Za-z_][\w.-]*)["']?/y;

const LONGEST_COMMAND = 500;

const PROGRAM =
  /\b(?:bash|sh|zsh|python[\d.]*|node|deno|bun|tsx|ruby|perl|php|awk|gawk|lua|Rscript|osascript|pwsh)\b/;

/** Where a comment begins in a line of a program, outside of its strings. */
function commentIn(line: string): number | undefined {
  let open: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (char === '\\') at++;
    else if (open !== undefined) open = char === open ? undefined : open;
    else if ('"\'`'.includes(char)) open = char;
    else if (char === '#' || line.startsWith('//', at)) {
      if (at === 0 || /\s/.test(line.charAt(at - 1))) return at;
    }
  }
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
