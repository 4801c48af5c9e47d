/** Workflows of any size. Each is large in a different way. */

type Files = Readonly<Record<string, string>>;
type Make<T> = (n: number) => T;

const times = (n: number, line: (i: number) => string, between = '\n') =>
  Array.from({ length: n }, (_, i) => line(i)).join(between);

/** Names of one length, so that only their number grows. */
const id = (i: number) => String(i).padStart(4, '0');

const policy = (n: number, entry: (i: number) => string, text = 'Go on.'): Files => ({
  'START.md': `---\nallowed_transitions:\n${times(n, (i) => `  - ${entry(i)}`)}\n---\n${text}`,
});

const evaluators = (n: number, entry: (i: number) => string): Files => ({
  'START.md': `---\nevaluators:\n${times(n, (i) => `  - {${entry(i)}, then: {tag: goto, target: START}}`)}\n---\nx`,
  'JUDGE.md': '<result>YES</result>',
});

const states = (n: number, start: string, state: (i: number) => string): Files => ({
  'START.md': start,
  ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`S${id(i)}.md`, state(i)])),
});

export const LARGE_FOLDERS: Readonly<Record<string, Make<Files>>> = {
  'commands that write tags': (n) => ({
    'START.sh': times(n, (i) => `raymond tag goto S${id(i)} --input "$(x '${i}`),
  }),
  'substitutions in tags': (n) => ({
    'START.sh': times(n, (i) => `echo "<goto a=\\"$(x "$(y ${i}`),
  }),
  'limits of many states': (n) => ({
    ...states(n, 'Go.', () => 'Go.'),
    'workflow.yaml': `states:\n${times(n, (i) => `  S${id(i)}.md: {timeout: 1}\n  X${id(i)}: {}`)}`,
  }),
  'entries that name nothing': (n) => policy(n, (i) => `{tag: goto, target: MISSING_${id(i)}}`),
  'entries that are the same': (n) => policy(n, () => '{tag: goto, target: START}'),
  'entries beside other tags': (n) =>
    policy(
      n,
      (i) => `{tag: goto, target: A${id(i)}}`,
      times(n, (i) => `<goto>B${id(i)}</goto>`),
    ),
  'the same entry beside tags': (n) =>
    policy(
      n,
      () => '{tag: goto, target: START}',
      times(n, (i) => `<goto input="${i}">START</goto>`),
    ),
  'entries that pin variables': (n) =>
    policy(
      n,
      (i) => `{tag: fork, target: START, next: START, v: "1", v${id(i)}: "1"}`,
      times(n, (i) => `<fork next="START" v="1" v${id(i)}="1">START</fork>`),
    ),
  'entries with unknown tags': (n) => policy(n, (i) => `{tag: gotoo${id(i)}, target: START}`),
  'entries that are aliases': (n) =>
    policy(n, (i) => (i === 0 ? '&a {tag: goto, target: START}' : '*a')),
  'unknown keys': (n) => ({ 'START.md': `---\n${times(n, (i) => `key_${id(i)}: 1`)}\n---\nx` }),
  'repeated keys': (n) => ({ 'START.md': `---\n${times(n, () => 'model: opus')}\n---\nx` }),
  'patterns of evaluators': (n) => evaluators(n, (i) => `matches: "x${id(i)}"`),
  'costs of evaluators': (n) => evaluators(n, (i) => `cost: ${n - i}`),
  'judges of evaluators': (n) => evaluators(n, () => 'prompt: JUDGE, expect: "YES"'),
  'tags that name nothing': (n) => ({
    'START.md': times(n, (i) => `<goto>MISSING_${id(i)}</goto>`),
  }),
  'tags that name a state': (n) => ({ 'START.md': times(n, () => '<goto>START</goto>') }),
  'tags that are never closed': (n) => ({ 'START.md': times(n, () => '<goto>START') }),
  'tags in one another': (n) => ({ 'START.md': `${'<goto>'.repeat(n)}</goto>` }),
  'values that are never closed': (n) => ({ 'START.md': times(n, () => '<call return="') }),
  'tags in capitals': (n) => ({ 'START.md': times(n, () => '<GOTO>START</GOTO>') }),
  'tags on one line of a script': (n) => ({
    'START.sh': `echo ${times(n, () => "'<goto>START</goto>'", ' ')}`,
  }),
  'forks and gotos of a script': (n) => ({
    'START.sh': times(n, () => "echo '<fork>START</fork>'; echo '<goto>START</goto>'"),
  }),
  'placeholders that nothing fills': (n) => ({
    'START.md': times(
      n,
      (i) => `{{name_${id(i)}}} <fork next="START" nome_${id(i)}="1">START</fork>`,
    ),
  }),
  'a chain of states': (n) => states(n, '<goto>S0000</goto>', (i) => `<goto>S${id(i + 1)}</goto>`),
  'a chain with ways back': (n) =>
    states(n, '<goto>S0000</goto>', (i) => `<goto>S${id(i + 1)}</goto> <goto>START</goto>`),
  'a star of states': (n) =>
    states(
      n,
      times(n, (i) => `<goto>S${id(i)}</goto>`),
      () => '<result>x</result>',
    ),
  'a star of calls': (n) =>
    states(
      n,
      times(n, (i) => `<call return="START">S${id(i)}</call>`),
      () => '<result>x</result>',
    ),
  'callers of one callee': (n) => ({
    ...states(
      n,
      times(n, (i) => `<call return="S${id(i)}">WORK</call>`),
      () => '<call return="START">WORK</call>',
    ),
    'WORK.md': '<result>x</result>',
  }),
  'states with max_visits': (n) =>
    states(n, '<goto>S0000</goto>', (i) => `---\nmax_visits: 99\n---\n<goto>S${id(i + 1)}</goto>`),
  'broken states': (n) => states(n, '<goto>S0000</goto>', () => '---\nmodel: [\n---\nx'),
  'states that share a name': (n) => ({
    'START.md': '<result>x</result>',
    ...Object.fromEntries(
      Array.from({ length: n }, (_, i) => [`S${id(i >> 1)}.${i % 2 === 0 ? 'md' : 'sh'}`, 'x']),
    ),
  }),
};

const yamlStates = (n: number, state: (i: number) => string) =>
  `states:\n  START: {prompt: "<result>x</result>"}\n${times(n, (i) => `  ${state(i)}`)}\n`;

export const LARGE_YAML: Readonly<Record<string, Make<string>>> = {
  states: (n) => yamlStates(n, (i) => `S${id(i)}: {prompt: "<goto>START</goto>"}`),
  'states that are repeated': (n) => yamlStates(n, () => 'S: {prompt: x}'),
  'states with unknown keys': (n) => yamlStates(n, (i) => `S${id(i)}: {promt: x}`),
  'scripts with keys': (n) => yamlStates(n, (i) => `S${id(i)}: {sh: "echo", model: x}`),
  'unknown keys': (n) => `${times(n, (i) => `key${id(i)}: x`)}\n${yamlStates(0, String)}`,
  variables: (n) => `environment:\n${times(n, (i) => `  v${id(i)}: x`)}\n${yamlStates(0, String)}`,
  'lines that are wrong': (n) => times(n, (i) => `- a\nb${id(i)}: "%`),
};
