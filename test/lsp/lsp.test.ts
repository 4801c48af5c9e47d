// A real client drives `raymond lsp` over its standard streams.
import { once } from 'node:events';
import { existsSync, readdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { writeZip } from '../zip-writer.ts';
import { Editor } from './editor.ts';

const FLOW = {
  'flow/START.md': 'Größe 🙂 prüfen.\n\nDann 🙂 <goto>REVIEW</goto>\n',
  'flow/REVIEW.md':
    '---\nallowed_transitions:\n  - { tag: goto, target: START.md }\n  - { tag: call, target: CHECK, return: REVIEW }\n  - tag: result\nmax_visits: 5\nrights:\n  network: none\n---\nReview it: {{result}}. Write <goto>START.md</goto>, <call return="REVIEW">CHECK</call> or <result>ok</result>.\n',
  'flow/CHECK.sh': 'if true; then echo "<result>ok</result>"; fi\n',
  'flow/workflow.yaml': 'states:\n  CHECK.sh: { timeout: 30 }\n',
};

async function opened(
  files: Readonly<Record<string, string>> = FLOW,
  name?: string,
): Promise<{ editor: Editor; project: ReturnType<typeof newProject> }> {
  const project = newProject(files, name);
  const editor = new Editor(project);
  await editor.initialize();
  return { editor, project };
}

const none = (codes: readonly string[]) => codes.length === 0;

test('diagnostics follow the unsaved text, and are those of raymond lint', async () => {
  const { editor, project } = await opened(FLOW, 'Mein Projekt äöü');
  await editor.open('flow/START.md');
  await editor.type('flow/START.md', 'REVIEW', 'REVEIW');
  const found = await editor.diagnostics('flow/START.md', (codes) =>
    codes.includes('missing-state'),
  );
  // The same rules, codes and places.
  project.write('flow/START.md', editor.document('flow/START.md').getText());
  const { stdout } = await command(project, ['lint', 'flow', '--json']);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ofStart = lines.filter(({ file }) => file === 'flow/START.md');
  expect(
    found.map(({ code, range }) => [code, range.start.line + 1, range.start.character + 1]),
  ).toEqual(ofStart.map(({ code, line, column }) => [code, line, column]));
  expect(found[0]).toMatchObject({
    severity: 1,
    source: 'raymond',
    message: expect.stringContaining('There is no state "REVEIW"'),
    range: { start: { line: 2, character: 8 }, end: { line: 2, character: 14 } },
  });

  await editor.type('flow/START.md', 'REVEIW', 'REVIEW');
  await editor.diagnostics('flow/START.md', none);
  await editor.diagnostics('flow/REVIEW.md', none);
  expect(await editor.shutdown()).toBe(0);
  expect(editor.errors).toBe('');
});

test('a new file that is not saved is a state, and a closed one is what the disk has', async () => {
  const { editor } = await opened();
  await editor.open('flow/START.md');
  await editor.type('flow/START.md', 'REVIEW', 'NEU🙂');
  await editor.diagnostics('flow/START.md', (codes) => codes.includes('missing-state'));
  await editor.open('flow/NEU🙂.md', '<result>neu</result>');
  await editor.diagnostics('flow/START.md', none);
  await editor.close('flow/NEU🙂.md');
  await editor.diagnostics('flow/START.md', (codes) => codes.includes('missing-state'));
});

test('files on disk that change are read again', async () => {
  const { editor, project } = await opened();
  await editor.open('flow/START.md');
  await editor.type('flow/START.md', 'REVIEW', 'LATER');
  await editor.diagnostics('flow/START.md', (codes) => codes.includes('missing-state'));
  project.write('flow/LATER.md', '<goto>REVIEW</goto>');
  await editor.saved('flow/START.md');
  await editor.diagnostics('flow/START.md', none);
});

test('completes states, tags, attributes, keys, values and placeholders', async () => {
  const { editor } = await opened();
  await editor.open('flow/START.md');
  await editor.open('flow/REVIEW.md');
  await editor.open('flow/CHECK.sh');
  await editor.open('flow/workflow.yaml');
  await editor.type('flow/START.md', '<goto>REVIEW</goto>', '<goto>RE</goto> <call ret');
  expect(await editor.completions('flow/START.md', '<goto>RE|')).toEqual([
    'CHECK',
    'REVIEW',
    'START',
  ]);
  expect(await editor.completions('flow/START.md', '<call ret|')).toEqual(['return', 'input']);
  await editor.type('flow/START.md', '<call ret', '<call return="');
  expect(await editor.completions('flow/START.md', '<call return="|')).toContain('CHECK');
  await editor.type('flow/START.md', '<call return="', '{{res');
  expect(await editor.completions('flow/START.md', '{{res|')).toContain('result');
  await editor.type('flow/START.md', '{{res', '<');
  const tags = await editor.completionItems('flow/START.md', '</goto> <|');
  expect(tags.find(({ label }) => label === 'function')).toMatchObject({
    textEdit: { newText: 'function return="$1">$2</function>' },
    documentation: { value: expect.stringContaining('new session') },
  });

  await editor.type('flow/REVIEW.md', 'max_visits: 5', 'on_interrupt: \nhandover: ');
  expect(await editor.completions('flow/REVIEW.md', 'on_interrupt: |')).toEqual([
    'continue',
    'restart',
  ]);
  expect(await editor.completions('flow/REVIEW.md', 'handover: |')).toContain('START');
  expect(await editor.completions('flow/REVIEW.md', 'tag: call, target: |')).toContain('CHECK');
  expect(await editor.completions('flow/REVIEW.md', 'tag: call, |')).toContain('input');
  const keys = await editor.completionItems('flow/REVIEW.md', 'rights:\n  |');
  expect(keys.map(({ label }) => label)).toEqual(['write', 'hide', 'network', 'secrets']);
  expect(keys[0]).toMatchObject({ documentation: { value: expect.stringContaining('change') } });

  expect(
    await editor.completions('flow/workflow.yaml', '{ timeout: 30, |'.replace(', |', '|')),
  ).toEqual([]);
  await editor.type('flow/workflow.yaml', 'states:', 'def\nstates:');
  expect(await editor.completions('flow/workflow.yaml', 'def|')).toContain('default_budget');
  await editor.type('flow/CHECK.sh', '<result>ok</result>', '<goto>R');
  expect(await editor.completions('flow/CHECK.sh', '<goto>R|')).toContain('REVIEW');
});

test('goes to a state, and finds what names it', async () => {
  const { editor } = await opened();
  await editor.open('flow/START.md');
  await editor.open('flow/REVIEW.md');
  expect(await editor.definition('flow/START.md', '<goto>REV|IEW')).toMatchObject([
    { uri: editor.uri('flow/REVIEW.md') },
  ]);
  expect(await editor.definition('flow/REVIEW.md', 'target: STA|RT.md')).toMatchObject([
    { uri: editor.uri('flow/START.md') },
  ]);
  expect(await editor.definition('flow/START.md', 'Grö|ße')).toBeNull();
  const found = await editor.references('flow/REVIEW.md', 'target: CH|ECK');
  expect(found?.map(({ uri }) => uri)).toEqual([
    editor.uri('flow/REVIEW.md'),
    editor.uri('flow/REVIEW.md'),
    editor.uri('flow/workflow.yaml'),
  ]);
  // Behind umlauts and emoji, which have two code units.
  const ofReview = await editor.references('flow/REVIEW.md', 'Review it');
  expect(ofReview?.map(({ range }) => range)).toEqual([
    { start: { line: 3, character: 40 }, end: { line: 3, character: 46 } },
    { start: { line: 9, character: 66 }, end: { line: 9, character: 72 } },
    { start: { line: 2, character: 14 }, end: { line: 2, character: 20 } },
  ]);
});

test('shows the neighbours of a state, its limits and its rights', async () => {
  const { editor } = await opened();
  await editor.open('flow/START.md');
  await editor.open('flow/REVIEW.md');
  const text = await editor.hover('flow/START.md', '<goto>REV|IEW');
  expect(text).toContain('`REVIEW.md` · prompt');
  expect(text).toContain('Reached from: `REVIEW` (return), `START` (goto)');
  expect(text).toMatch(/Leads to: `START` \(goto\), `CHECK` \(call\)/);
  expect(text).toContain('`max_visits: 5`');
  expect(text).toMatch(/Rights: `.*network none/);
  expect(await editor.hover('flow/REVIEW.md', 'max_vis|its')).toContain('may enter this state');
  expect(await editor.hover('flow/START.md', '<go|to>')).toContain('same session');
});

test('renames a state on disk, and lint has nothing to say afterwards', async () => {
  const { editor, project } = await opened();
  await editor.open('flow/START.md');
  editor.apply(await editor.rename('flow/START.md', '<goto>REV|IEW', 'Prüfung'));
  expect(project.read('flow/START.md')).toContain('<goto>Prüfung</goto>');
  expect(await command(project, ['lint', 'flow'])).toMatchObject({
    code: 0,
    stderr: 'No problems found.\n',
  });
});

test('renames every kind of name', async () => {
  const { editor, project } = await opened({
    ...FLOW,
    'flow/CHECK.sh': `echo "<call return=\\"CHECK\\">REVIEW</call>"\nraymond tag goto 'REVIEW' -a input=REVIEW\n`,
    'flow/REVIEW.md':
      '---\nhandover: REVIEW\nallowed_transitions:\n  - { tag: goto, target: "REVIEW.md" }\n  - { tag: goto, target: CHECK, input: REVIEW }\n  - { tag: result }\nevaluators:\n  - { visits: 3, then: { tag: goto, target: REVIEW } }\nensures:\n  - { run: "true", on: [goto REVIEW], else: { tag: goto, target: REVIEW } }\n---\nReview it.\n',
  });
  const before = await command(project, ['lint', 'flow', '--json']);
  await editor.open('flow/START.md');
  expect(await editor.prepareRename('flow/START.md', '<goto>REV|IEW')).toMatchObject({
    start: { line: 2, character: 14 },
  });
  editor.apply(await editor.rename('flow/START.md', '<goto>REV|IEW', 'Prüfung_2'));
  expect(readdirSync(project.path('flow')).sort()).toEqual([
    'CHECK.sh',
    'Prüfung_2.md',
    'START.md',
    'workflow.yaml',
  ]);
  expect(project.read('flow/START.md')).toContain('<goto>Prüfung_2</goto>');
  expect(project.read('flow/CHECK.sh')).toBe(
    `echo "<call return=\\"CHECK\\">Prüfung_2</call>"\nraymond tag goto 'Prüfung_2' -a input=REVIEW\n`,
  );
  expect(project.read('flow/Prüfung_2.md')).toBe(
    '---\nhandover: Prüfung_2\nallowed_transitions:\n  - { tag: goto, target: "Prüfung_2.md" }\n  - { tag: goto, target: CHECK, input: REVIEW }\n  - { tag: result }\nevaluators:\n  - { visits: 3, then: { tag: goto, target: Prüfung_2 } }\nensures:\n  - { run: "true", on: [goto Prüfung_2], else: { tag: goto, target: Prüfung_2 } }\n---\nReview it.\n',
  );
  const after = await command(project, ['lint', 'flow', '--json']);
  const codes = (text: string) => text.match(/"code":"[^"]*"/g)?.sort();
  expect(codes(after.stdout)).toEqual(codes(before.stdout));
});

test.each([
  ['a name in use', 'CHECK', /in use: CHECK\.sh/],
  ['a name in use, but for its case', 'check', /in use/],
  ['another kind', 'REVIEW.sh', /another kind/],
  ['a path', '../X', /is a path/],
  ['nothing', ' ', /missing/],
  ['a hidden file', '.X', /hidden/],
  ['the description', 'README', /describes a workflow/],
  ['a name that the shell expands', '$(id)', /shell may read/],
])('refuses to rename a state to %s', async (_, name, message) => {
  const { editor } = await opened({
    ...FLOW,
    'flow/CHECK.sh': 'echo "<goto>REVIEW</goto>"',
  });
  await editor.open('flow/START.md');
  await expect(editor.rename('flow/START.md', '<goto>REV|IEW', name)).rejects.toThrow(message);
});

test('refuses to rename the entry, and what only a run puts together', async () => {
  const { editor } = await opened({
    ...FLOW,
    'wf.yaml':
      'states:\n  START:\n    prompt: >\n      Do it,\n      then <goto>NEXT</goto>\n  NEXT:\n    sh: echo "<result>x</result>"\n',
  });
  await editor.open('flow/REVIEW.md');
  await expect(editor.rename('flow/REVIEW.md', 'target: STA|RT', 'BEGIN')).rejects.toThrow(
    /no entry/,
  );
  await editor.open('wf.yaml');
  await expect(editor.rename('wf.yaml', '  NE|XT:', 'LAST')).rejects.toThrow(/wf\.yaml:3 names it/);
});

test('a file that the editor renames takes its names with it', async () => {
  const { editor, project } = await opened();
  const edit = await editor.willRename('flow/REVIEW.md', 'flow/Q.md');
  expect(edit?.documentChanges?.every((change) => 'edits' in change)).toBe(true);
  editor.apply(edit);
  expect(project.read('flow/START.md')).toContain('<goto>Q</goto>');
  await expect(editor.willRename('flow/REVIEW.md', 'flow/CHECK.md')).rejects.toThrow(/in use/);
});

test('a workflow in one file: states, names, texts and a rename', async () => {
  const yaml =
    '# Ä 🙂\nstates:\n  START:\n    max_visits: 2\n    prompt: |\n      Ä 🙂 <goto>NEXT</goto>\n  NEXT:\n    sh: |\n      echo "<goto>START</goto>"\n      echo NEXT\n';
  const { editor, project } = await opened({ 'wf.yaml': yaml });
  await editor.open('wf.yaml');
  expect((await editor.symbols('wf.yaml'))?.map(({ name }) => name)).toEqual(['START', 'NEXT']);
  expect(await editor.definition('wf.yaml', '<goto>NE|XT')).toMatchObject([
    { range: { start: { line: 6, character: 2 }, end: { line: 6, character: 6 } } },
  ]);
  await editor.type('wf.yaml', 'max_visits: 2', 'max_');
  expect(await editor.completions('wf.yaml', 'max_|')).toContain('max_visits');
  await editor.type('wf.yaml', 'max_', 'max_visits: 2');
  await editor.type('wf.yaml', '<goto>NEXT', '<goto>N');
  expect(await editor.completions('wf.yaml', '<goto>N|')).toEqual(['NEXT', 'START']);
  await editor.type('wf.yaml', '<goto>N', '<goto>NEXT');
  expect(await editor.hover('wf.yaml', '  STA|RT:')).toContain('Leads to: `NEXT`');
  editor.apply(await editor.rename('wf.yaml', '  NE|XT:', 'Länge'));
  expect(project.read('wf.yaml')).toBe(
    yaml.replace('<goto>NEXT', '<goto>Länge').replace('  NEXT:', '  Länge:'),
  );
  // YAML that is broken while someone writes has one finding, and still completes.
  await editor.type('wf.yaml', 'states:', 'states: [');
  await editor.diagnostics('wf.yaml', (codes) => codes.includes('bad-yaml'));
  await editor.type('wf.yaml', 'states: [', 'states:');
  await editor.diagnostics('wf.yaml', (codes) => !codes.includes('bad-yaml'));
});

test('an address in another form is the same file', async () => {
  const { editor, project } = await opened();
  const uri = editor.uri('flow/START.md').replace('START.md', '%53TART%2Emd');
  await editor.open(uri, project.read('flow/START.md'));
  await editor.type(uri, 'REVIEW', 'REVEIW');
  await editor.diagnostics(uri, (codes) => codes.includes('missing-state'));
  await editor.type(uri, 'REVEIW', 'REVIEW');
  await editor.diagnostics(uri, none);
  expect(await editor.rename(uri, '<goto>REV|IEW', 'X')).toMatchObject({
    documentChanges: expect.arrayContaining([
      expect.objectContaining({ textDocument: { uri, version: null } }),
    ]),
  });
});

test('an archive is shown, and never changed', async () => {
  const { editor, project } = await opened();
  const text = 'See <goto>REVIEW</goto> or <goto>NOWHERE</goto>';
  project.write(
    'x.zip',
    writeZip([
      { name: 'START.md', content: text },
      { name: 'REVIEW.md', content: '<result>x</result>' },
    ]),
  );
  const uri = `zipfile://${project.path('x.zip')}::START.md`;
  await editor.open(uri, text);
  const found = await editor.diagnostics(uri, (codes) => codes.length > 0);
  expect(found.map(({ code }) => code)).toContain('missing-state');
  expect(await editor.hover(uri, '<goto>REV|IEW')).toContain('Reached from');
  await expect(editor.rename(uri, '<goto>REV|IEW', 'X')).rejects.toThrow(/is an archive/);
});

test('a document of no workflow has no findings and no answers', async () => {
  const { editor } = await opened({
    'notes/README.md': 'See <goto>NOWHERE</goto>',
    'notes/other.yaml': 'services: { a: 1 }',
    'flow/START.md': '<goto>NOWHERE</goto>',
  });
  await editor.open('notes/README.md');
  await editor.open('notes/other.yaml');
  await editor.open('untitled:Untitled-1', '<goto>X</goto>');
  await editor.open('file://elsewhere/share/START.md', '<goto>X</goto>');
  await editor.open('flow/START.md');
  await editor.diagnostics('flow/START.md', (codes) => codes.includes('missing-state'));
  await editor.diagnostics('notes/README.md', none);
  expect(await editor.hover('notes/README.md', '<go|to>')).toBe('');
  expect(await editor.completions('untitled:Untitled-1', '<goto>X|')).toEqual([]);
});

test('requests before initialize and after shutdown are refused, and exit without shutdown is a failure', async () => {
  const project = newProject(FLOW);
  const editor = new Editor(project);
  await editor.open('flow/START.md');
  await expect(editor.hover('flow/START.md', '<go|to>')).rejects.toThrow(/initialize/);
  await editor.initialize();
  expect(await editor.exit()).toBe(1);
});

test('the server ends when the editor dies', async () => {
  const { editor } = await opened();
  const ended = once(editor.server, 'close');
  editor.server.stdin?.end();
  expect(await ended).toEqual([1, null]);
  expect(editor.errors).toBe('');
});

test.each([
  ['another protocol', 'GET / HTTP/1.1\r\n\r\n', /not the Language Server Protocol/],
  ['bytes', '\0\x01\x02'.repeat(1000), /not the Language Server Protocol/],
  [
    'a length that is no number',
    'Content-Length: many\r\n\r\n{}',
    /Content-Length value must be a number/,
  ],
  ['no JSON', 'Content-Length: 3\r\n\r\n{{{', /The editor sent/],
])('garbage on standard input ends it with a sentence: %s', async (_, input, message) => {
  const project = newProject(FLOW);
  const { code, stdout, stderr } = await project.run(['lsp'], { input });
  expect(stdout).toBe('');
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(code).toBe(1);
});

test('executes nothing, and follows no link out of a folder', async () => {
  const { editor, project } = await opened({
    'outside/SECRET.md': 'secret <goto>TREASURE</goto>',
    'flow/START.md': '<goto>LINK</goto> ![x](http://127.0.0.1:9/x.png)',
    'flow/RUN.sh': 'touch executed; echo "<goto>START</goto>"',
    'flow/workflow.yaml': 'description: "![x](http://127.0.0.1:9/)"\n',
  });
  symlinkSync('../outside/SECRET.md', project.path('flow/LINK.md'));
  await editor.open('flow/START.md');
  await editor.diagnostics('flow/LINK.md', (codes) => codes.includes('unusable-file'));
  // Its text in the editor does not make it a part of the workflow.
  await editor.open('flow/LINK.md');
  await editor.diagnostics('flow/LINK.md', (codes) => codes.includes('unusable-file'));
  expect(await editor.references('flow/START.md', '<goto>LI|NK')).toHaveLength(1);
  expect(existsSync(project.path('flow/executed'))).toBe(false);
});
