/** An editor: a real client of `raymond lsp`, over the standard streams of the built program. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import {
  CompletionRequest,
  createProtocolConnection,
  DefinitionRequest,
  type Diagnostic,
  DidChangeTextDocumentNotification,
  DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification,
  DidSaveTextDocumentNotification,
  DocumentSymbolRequest,
  ExitNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  type Position,
  PrepareRenameRequest,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  ReferencesRequest,
  RenameRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
  WillRenameFilesRequest,
  type WorkspaceEdit,
} from 'vscode-languageserver-protocol/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { eventually } from '../eventually.ts';
import { BIN, type Project } from '../raymond.ts';

export class Editor {
  readonly #project: Pick<Project, 'folder' | 'path'>;
  readonly server: ChildProcess;
  readonly connection: ProtocolConnection;
  readonly #documents = new Map<string, TextDocument>();
  readonly #diagnostics = new Map<string, { version: number | undefined; found: Diagnostic[] }>();
  errors = '';

  constructor(project: Pick<Project, 'folder' | 'path' | 'environment'>) {
    this.#project = project;
    this.server = spawn(process.execPath, [BIN, 'lsp', '--stdio'], {
      cwd: project.folder,
      env: { ...project.environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { stdin, stdout, stderr } = this.server;
    if (!stdin || !stdout || !stderr) throw new Error('The server has no streams.');
    stderr.setEncoding('utf8').on('data', (text) => {
      this.errors += text;
    });
    stdin.on('error', () => {});
    this.connection = createProtocolConnection(
      new StreamMessageReader(stdout),
      new StreamMessageWriter(stdin),
    );
    this.connection.onNotification(PublishDiagnosticsNotification.type, (params) => {
      const { uri, version, diagnostics } = params;
      this.#diagnostics.set(uri, { version, found: diagnostics });
    });
    this.connection.listen();
    onTestFinished(() => {
      this.connection.dispose();
      this.server.kill('SIGKILL');
    });
  }

  async initialize() {
    const result = await this.connection.sendRequest(InitializeRequest.type, {
      processId: process.pid,
      rootUri: pathToFileURL(this.#project.folder).href,
      workspaceFolders: null,
      capabilities: {
        textDocument: { completion: { completionItem: { snippetSupport: true } } },
        workspace: {
          workspaceEdit: { documentChanges: true, resourceOperations: ['rename'] },
          fileOperations: { willRename: true },
        },
      },
    });
    await this.connection.sendNotification(InitializedNotification.type, {});
    return result;
  }

  uri(path: string): string {
    return /^\w+:/.test(path) ? path : pathToFileURL(this.#project.path(path)).href;
  }

  /** Opens a file as it is on disk, or with another text. */
  async open(path: string, text = readFileSync(this.#project.path(path), 'utf8')): Promise<void> {
    const uri = this.uri(path);
    const document = TextDocument.create(uri, '', 1, text);
    this.#documents.set(uri, document);
    const textDocument = { uri, languageId: 'markdown', version: 1, text };
    await this.connection.sendNotification(DidOpenTextDocumentNotification.type, { textDocument });
  }

  /** Types in place of the first occurrence of a text, and saves nothing. */
  async type(path: string, old: string, text: string): Promise<void> {
    const document = this.document(path);
    const at = document.getText().indexOf(old);
    if (at < 0) throw new Error(`${path} does not contain ${old}`);
    const range = { start: document.positionAt(at), end: document.positionAt(at + old.length) };
    const version = document.version + 1;
    this.#documents.set(document.uri, TextDocument.update(document, [{ range, text }], version));
    await this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: document.uri, version },
      contentChanges: [{ range, text }],
    });
  }

  async close(path: string): Promise<void> {
    this.#documents.delete(this.uri(path));
    const textDocument = { uri: this.uri(path) };
    await this.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument });
  }

  async saved(path: string): Promise<void> {
    const textDocument = { uri: this.uri(path) };
    await this.connection.sendNotification(DidSaveTextDocumentNotification.type, { textDocument });
  }

  document(path: string): TextDocument {
    const document = this.#documents.get(this.uri(path));
    if (!document) throw new Error(`${path} is not open`);
    return document;
  }

  /** Waits until the findings of a file are those of its newest text, and as expected. */
  async diagnostics(
    path: string,
    expected: (codes: readonly string[]) => boolean,
  ): Promise<readonly Diagnostic[]> {
    const uri = this.uri(path);
    const codes = () => (this.#diagnostics.get(uri)?.found ?? []).map(({ code }) => String(code));
    await eventually(`diagnostics of ${path}, but there are: ${codes()}`, () => {
      const open = this.#documents.get(uri);
      const published = this.#diagnostics.get(uri);
      const isNewest = !open || published?.version === open.version || published === undefined;
      return isNewest && expected(codes());
    });
    return this.#diagnostics.get(uri)?.found ?? [];
  }

  /** The place after the first occurrence of a text; `|` in it is the cursor. */
  at(path: string, marked: string): { textDocument: { uri: string }; position: Position } {
    const document = this.document(path);
    const cursor = marked.indexOf('|');
    const text = marked.replace('|', '');
    const start = document.getText().indexOf(text);
    if (start < 0) throw new Error(`${path} does not contain ${text}`);
    const position = document.positionAt(start + (cursor < 0 ? text.length : cursor));
    return { textDocument: { uri: document.uri }, position };
  }

  async completions(path: string, marked: string): Promise<readonly string[]> {
    return (await this.completionItems(path, marked)).map(({ label }) => label);
  }

  async completionItems(path: string, marked: string) {
    const found = await this.connection.sendRequest(CompletionRequest.type, this.at(path, marked));
    return Array.isArray(found) ? found : (found?.items ?? []);
  }

  async hover(path: string, marked: string): Promise<string> {
    const found = await this.connection.sendRequest(HoverRequest.type, this.at(path, marked));
    const { contents } = found ?? { contents: '' };
    return typeof contents === 'object' && 'value' in contents ? contents.value : '';
  }

  definition(path: string, marked: string) {
    return this.connection.sendRequest(DefinitionRequest.type, this.at(path, marked));
  }

  references(path: string, marked: string) {
    const params = { ...this.at(path, marked), context: { includeDeclaration: true } };
    return this.connection.sendRequest(ReferencesRequest.type, params);
  }

  symbols(path: string) {
    const textDocument = { uri: this.uri(path) };
    return this.connection.sendRequest(DocumentSymbolRequest.type, { textDocument });
  }

  prepareRename(path: string, marked: string) {
    return this.connection.sendRequest(PrepareRenameRequest.type, this.at(path, marked));
  }

  rename(path: string, marked: string, newName: string): Promise<WorkspaceEdit | null> {
    const params = { ...this.at(path, marked), newName };
    return this.connection.sendRequest(RenameRequest.type, params);
  }

  willRename(oldPath: string, newPath: string): Promise<WorkspaceEdit | null> {
    const files = [{ oldUri: this.uri(oldPath), newUri: this.uri(newPath) }];
    return this.connection.sendRequest(WillRenameFilesRequest.type, { files });
  }

  /** Writes an edit to the disk, in its order, as an editor does that saves all. */
  apply(edit: WorkspaceEdit | null): void {
    for (const change of edit?.documentChanges ?? []) {
      if ('edits' in change) {
        const path = fileURLToPath(change.textDocument.uri);
        const before = TextDocument.create('', '', 0, readFileSync(path, 'utf8'));
        const edits = change.edits.flatMap((one) => ('newText' in one ? [one] : []));
        writeFileSync(path, TextDocument.applyEdits(before, edits));
      } else if (change.kind === 'rename') {
        mkdirSync(dirname(fileURLToPath(change.newUri)), { recursive: true });
        renameSync(fileURLToPath(change.oldUri), fileURLToPath(change.newUri));
      }
    }
  }

  async shutdown(): Promise<number | null> {
    await this.connection.sendRequest(ShutdownRequest.type);
    return this.exit();
  }

  async exit(): Promise<number | null> {
    const ended = once(this.server, 'close');
    await this.connection.sendNotification(ExitNotification.type);
    const [code] = await ended;
    return code;
  }
}
