/** The part of GitHub's expressions that our files use. Anything else is an error. */

export interface Known {
  readonly inputs: Readonly<Record<string, string>>;
  readonly steps: Readonly<Record<string, { readonly outputs: Readonly<Record<string, string>> }>>;
  readonly status?: Readonly<Record<string, boolean>>;
}

type Value = string | boolean;

/** The text with the values of its expressions. */
export function filledIn(text: string, known: Known): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/gs, (_whole, expression: string) =>
    String(evaluate(expression, known)),
  );
}

export function evaluate(expression: string, known: Known): Value {
  const tokens = tokensOf(expression);
  const value = either(tokens, known);
  if (tokens.length > 0) throw new Error(`Unexpected ${tokens[0]} in: ${expression}`);
  return value;
}

function tokensOf(expression: string): string[] {
  const form = /\s*('(?:[^']|'')*'|[\w.-]+\(\)|[\w.-]+|==|!=|&&|\|\||!|\(|\))/y;
  const tokens: string[] = [];
  while (form.lastIndex < expression.trimEnd().length) {
    const at = form.lastIndex;
    const [, token] = form.exec(expression) ?? [];
    if (token === undefined) throw new Error(`Unknown form: ${expression.slice(at)}`);
    tokens.push(token);
  }
  return tokens;
}

function either(tokens: string[], known: Known): Value {
  return chain(tokens, '||', () => chain(tokens, '&&', () => compared(tokens, known)));
}

/** Every part is read, even if the first ones decide. */
function chain(tokens: string[], operator: '&&' | '||', part: () => Value): Value {
  let value = part();
  while (tokens[0] === operator) {
    tokens.shift();
    const other = part();
    value = operator === '&&' ? value && other : value || other;
  }
  return value;
}

function compared(tokens: string[], known: Known): Value {
  const value = single(tokens, known);
  if (tokens[0] !== '==' && tokens[0] !== '!=') return value;
  const isEqual = tokens.shift() === '==';
  // GitHub compares texts without regard to case.
  const [first, second] = [value, single(tokens, known)].map((one) => String(one).toLowerCase());
  return (first === second) === isEqual;
}

function single(tokens: string[], known: Known): Value {
  const token = tokens.shift() ?? '';
  if (token === '!') return !single(tokens, known);
  if (token === '(') {
    const value = either(tokens, known);
    if (tokens.shift() !== ')') throw new Error('A bracket is missing.');
    return value;
  }
  if (token.startsWith("'")) return token.slice(1, -1).replaceAll("''", "'");
  if (token.endsWith('()')) {
    const holds = known.status?.[token.slice(0, -2)];
    if (holds === undefined) throw new Error(`Unknown function: ${token}`);
    return holds;
  }
  const [context, name = '', outputs, output = '', ...more] = token.split('.');
  if (context === 'inputs' && outputs === undefined && name in known.inputs)
    return known.inputs[name] ?? '';
  // A step without this output, or that did not run, has an empty text.
  if (context === 'steps' && outputs === 'outputs' && more.length === 0)
    return known.steps[name]?.outputs[output] ?? '';
  throw new Error(`Unknown value: ${token}`);
}
