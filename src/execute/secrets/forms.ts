/** The forms in which a secret can appear in the output of a program that did not mean to hide it. */

export interface Form {
  readonly name: string;
  readonly bytes: Buffer;
  /** Programs break long lines of it. */
  readonly isWrapped: boolean;
}

export function formsOf(secrets: ReadonlyMap<string, string>): readonly Form[] {
  const found = new Map<string, Form>();
  for (const [name, value] of secrets) {
    const add = (text: string, isWrapped = false) => {
      const key = `${isWrapped} ${text}`;
      if (text.length >= LEAST_FORM && !found.has(key))
        found.set(key, { name, bytes: Buffer.from(text), isWrapped });
    };
    // A program may print a value with several lines one by one, each after a time or a name.
    const lines = value.split(/\r?\n/).map((line) => line.trim());
    const alone = lines.length === 1 ? [] : lines.filter(isTelling);
    for (const text of [value, ...alone]) for (const form of textForms(text)) add(form);
    for (const form of binaryForms(Buffer.from(value))) add(form, true);
  }
  return [...found.values()];
}

/** Shorter parts would be found where they mean nothing. */
const LEAST_FORM = 8;

/** A line of a key or a file of credentials, unlike its frame. */
const isTelling = (line: string) => line.length >= 16 && !line.includes('-----');

function textForms(text: string): readonly string[] {
  const json = jsonForms(text);
  return [text, ...json, ...json.flatMap(jsonForms), ...urlForms(text), ...xmlForms(text)];
}

/** As tags and pages have it. Each writer escapes other characters, but each of them always in the same way. */
function xmlForms(text: string): readonly string[] {
  return ENTITIES.reduce<readonly string[]>(
    (forms, [char, ...entities]) =>
      text.includes(char)
        ? forms.flatMap((form) => [form, ...entities.map((one) => form.replaceAll(char, one))])
        : forms,
    [text],
  );
}

/** The ampersand comes first, because the others contain it. */
const ENTITIES: readonly (readonly [string, ...string[]])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;', '&#34;'],
  ["'", '&apos;', '&#39;', '&#x27;'],
];

/** As the content of a JSON string. Some programs also escape slashes, or all but ASCII. */
function jsonForms(text: string): readonly string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = plain.replaceAll(/[^ -~]/g, (char) => {
    const code = char.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${code}`;
  });
  return [...new Set([plain, ascii, plain.replaceAll('/', '\\/')])];
}

function urlForms(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const strict = component.replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const whole = [component, strict, strict.replaceAll('%20', '+')];
  const lower = whole.map((one) => one.replaceAll(/%../g, (code) => code.toLowerCase()));
  return [...new Set([...whole, ...lower])];
}

/** In base64, a value has three forms: it depends on how many bytes come before it. */
function binaryForms(bytes: Buffer): readonly string[] {
  const hex = bytes.toString('hex');
  const encoded = [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // The first characters also depend on what comes before, and the last ones on what follows.
    const from = Math.ceil((before * 8) / 6);
    const until = Math.floor(((before + bytes.length) * 8) / 6);
    return whole.slice(from, until);
  });
  const forUrls = encoded.map((one) => one.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([hex, hex.toUpperCase(), ...encoded, ...forUrls])];
}
