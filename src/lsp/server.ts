/** A language server for the files of workflows, on two streams. */
import type { Readable, Writable } from 'node:stream';
import {
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type {
  CompletionParams,
  DefinitionParams,
  DidChangeTextDocumentParams,
  DidCloseTextDocumentParams,
  DidOpenTextDocumentParams,
  HoverParams,
  InitializeParams,
  InitializeResult,
  PrepareRenameParams,
  PublishDiagnosticsParams,
  ReferenceParams,
  RegistrationParams,
  RenameFilesParams,
  RenameParams,
} from 'vscode-languageserver-protocol';
import type { Schemas } from '../editing/complete.ts';
import type { Agents } from '../model/agent.ts';
import { messageOf } from '../model/message-of.ts';
import { UserError } from '../model/user-error.ts';
import type { Platform } from '../model/workflow.ts';
import { frontMatterSchema } from '../schemas/front-matter-schema.ts';
import { manifestSchema, workflowSchema } from '../schemas/workflow-schema.ts';
import {
  type Abilities,
  completions,
  definition,
  diagnostics,
  hover,
  references,
  rename,
  renameable,
  renamedFile,
  symbols,
} from './answers.ts';
import { Documents, fileOf } from './documents.ts';
import { EditedWorkflows, type Place } from './edited-workflows.ts';

export interface ServerParts {
  readonly input: Readable;
  readonly output: Writable;
  readonly platform: Platform;
  readonly version: string;
  /** The agents of the configuration, which may change while the editor is open. */
  agents(): Promise<Agents>;
  /** For what the editor does not show. */
  report(text: string): void;
}

/** Serves one editor until it leaves. Returns the exit code that the protocol asks for. */
export function serveEditor(parts: ServerParts): Promise<number> {
  return new Promise((resolve) => new Server(parts, resolve).listen());
}

interface InDocument {
  readonly textDocument: { readonly uri: string };
}

class Server {
  readonly #parts: ServerParts;
  readonly #connection: MessageConnection;
  readonly #documents = new Documents();
  readonly #workflows: EditedWorkflows;
  readonly #end: (code: number) => void;
  #agents: Promise<Agents> | undefined;
  #made: (Schemas & { readonly agents: Agents }) | undefined;
  #abilities: Abilities = {
    snippets: false,
    ordersChanges: false,
    renamesFiles: false,
  };
  #watches = false;
  #stage: 'new' | 'serving' | 'shut down' = 'new';
  #check: NodeJS.Timeout | undefined;
  #isChecking = false;
  #hasLeft = false;
  /** The addresses that have findings at the moment. */
  #marked = new Set<string>();

  constructor(parts: ServerParts, end: (code: number) => void) {
    this.#parts = parts;
    this.#end = end;
    this.#workflows = new EditedWorkflows(this.#documents, parts.platform, () => this.#ofFiles());
    const reader = new StreamMessageReader(parts.input);
    const writer = new StreamMessageWriter(parts.output);
    this.#connection = createMessageConnection(reader, writer, {
      error: () => {},
      warn: () => {},
      info: () => {},
      log: () => {},
    });
  }

  listen(): void {
    const connection = this.#connection;
    // A program that speaks something else would otherwise wait for an answer, and fill the memory.
    this.#parts.input.once('data', (chunk: Buffer | string) => {
      const start = String(chunk).slice(0, HEADER.length).toLowerCase();
      if (!HEADER.startsWith(start)) this.#leave(NOT_THE_PROTOCOL);
    });
    connection.onError(([error]) =>
      this.#leave(`The editor sent ${error.message.split('\n', 1)[0]}`),
    );
    connection.onClose(() => this.#leave());
    connection.onUnhandledNotification(() => {});
    connection.onRequest('initialize', (params: InitializeParams) => this.#initialize(params));
    connection.onRequest('shutdown', () => {
      this.#stage = 'shut down';
      return null;
    });
    connection.onNotification('exit', () => this.#leave());
    this.#answerRequests();
    this.#hearOfChanges();
    connection.listen();
  }

  #leave(problem?: string): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (problem !== undefined) this.#parts.report(problem);
    clearTimeout(this.#check);
    this.#connection.dispose();
    this.#end(this.#stage === 'shut down' && problem === undefined ? 0 : 1);
  }

  #initialize({ capabilities }: InitializeParams): InitializeResult {
    this.#stage = 'serving';
    const { textDocument = {}, workspace = {} } = capabilities;
    const edits = workspace.workspaceEdit;
    this.#abilities = {
      snippets: textDocument.completion?.completionItem?.snippetSupport === true,
      ordersChanges: edits?.documentChanges === true,
      renamesFiles:
        edits?.documentChanges === true && edits.resourceOperations?.includes('rename') === true,
    };
    this.#watches = workspace.didChangeWatchedFiles?.dynamicRegistration === true;
    return {
      capabilities: {
        positionEncoding: 'utf-16',
        textDocumentSync: { openClose: true, change: INCREMENTAL, save: { includeText: false } },
        completionProvider: { triggerCharacters: ['<', '>', '"', "'", '{', '$'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentSymbolProvider: true,
        renameProvider: { prepareProvider: true },
        workspace: {
          fileOperations: {
            willRename: {
              filters: [{ scheme: 'file', pattern: { glob: '**/*.{md,sh,ps1,bat}' } }],
            },
          },
        },
      },
      serverInfo: { name: 'raymond', version: this.#parts.version },
    };
  }

  #answerRequests(): void {
    const answer = <P>(method: string, act: (params: P) => Promise<unknown>) =>
      this.#connection.onRequest(method, (params: P) => this.#answer(method, () => act(params)));
    const at = <P extends InDocument>(method: string, act: (place: Place, params: P) => unknown) =>
      answer(method, async (params: P) => {
        const place = await this.#workflows.of(params.textDocument.uri);
        return place ? act(place, params) : null;
      });
    at('textDocument/completion', async (place, { position }: CompletionParams) =>
      completions(place, position, await this.#schemas(), this.#abilities),
    );
    at('textDocument/hover', async (place, { position }: HoverParams) =>
      hover(place, position, await this.#schemas()),
    );
    at('textDocument/definition', (place, { position }: DefinitionParams) =>
      definition(place, position),
    );
    at('textDocument/references', (place, { position, context }: ReferenceParams) =>
      references(place, position, context.includeDeclaration),
    );
    at('textDocument/documentSymbol', symbols);
    at('textDocument/prepareRename', (place, { position }: PrepareRenameParams) =>
      renameable(place, position),
    );
    at('textDocument/rename', (place, { position, newName }: RenameParams) =>
      rename(place, position, newName, this.#abilities),
    );
    answer('workspace/willRenameFiles', async ({ files }: RenameFilesParams) => {
      const [file, another] = files;
      // Each of several would change the texts in which the others are looked for.
      if (!file || another) return null;
      const from = fileOf(file.oldUri);
      const to = fileOf(file.newUri);
      if (!from || !to || from.path !== to.path) return null;
      const place = await this.#workflows.of(file.oldUri);
      return place ? renamedFile(place, to.name, this.#abilities) : null;
    });
  }

  #hearOfChanges(): void {
    const hear = <P>(method: string, act: (params: P) => void) =>
      this.#connection.onNotification(method, (params: P) => {
        if (this.#stage === 'serving') act(params);
      });
    hear('initialized', () => {
      if (this.#watches)
        void this.#connection.sendRequest('client/registerCapability', WATCHED).catch(() => {});
    });
    hear('textDocument/didOpen', ({ textDocument }: DidOpenTextDocumentParams) => {
      const { uri, version, text } = textDocument;
      this.#documents.open(uri, version, text);
      this.#changed();
    });
    hear('textDocument/didChange', (params: DidChangeTextDocumentParams) => {
      const { uri, version } = params.textDocument;
      this.#documents.change(uri, version, params.contentChanges);
      this.#changed();
    });
    hear('textDocument/didClose', ({ textDocument }: DidCloseTextDocumentParams) => {
      this.#documents.close(textDocument.uri);
      this.#changed();
    });
    hear('textDocument/didSave', () => this.#changed());
    hear('workspace/didChangeWatchedFiles', () => {
      this.#agents = undefined;
      this.#changed();
    });
  }

  async #answer(method: string, work: () => Promise<unknown>): Promise<unknown> {
    if (this.#stage === 'new') return new ResponseError(NOT_INITIALIZED, 'Send initialize first.');
    if (this.#stage === 'shut down') return new ResponseError(INVALID, 'The server is shut down.');
    // The editor does not say when a file on disk has changed.
    if (!this.#watches) this.#workflows.changed();
    try {
      return await work();
    } catch (error) {
      if (error instanceof UserError)
        return new ResponseError(FAILED, `${error.message} ${error.remedy}`);
      this.#parts.report(`Bug: ${method}: ${stackOf(error)}`);
      return new ResponseError(INTERNAL, `Raymond could not answer: ${messageOf(error)}`);
    }
  }

  #changed(): void {
    this.#workflows.changed();
    clearTimeout(this.#check);
    this.#check = setTimeout(() => void this.#checkAll(), PAUSE_MS);
  }

  /** Finds the faults of all workflows with an open document, one check at a time. */
  async #checkAll(): Promise<void> {
    if (this.#isChecking) return this.#changed();
    this.#isChecking = true;
    try {
      await this.#publishAll();
    } catch (error) {
      this.#parts.report(`Bug: ${stackOf(error)}`);
    } finally {
      this.#isChecking = false;
    }
  }

  async #publishAll(): Promise<void> {
    const isOpen = (uri: string) => this.#documents.get(uri) !== undefined;
    // A text that changes meanwhile is checked again.
    const versions = new Map(
      this.#documents.uris().map((uri) => [uri, this.#documents.get(uri)?.version]),
    );
    const places = new Map<string, Place>();
    for (const uri of this.#documents.uris()) {
      const place = await this.#workflows.of(uri);
      if (place) places.set(place.location.path, place);
    }
    const found = new Map([...places.values()].flatMap((place) => [...diagnostics(place, isOpen)]));
    for (const uri of new Set([...this.#marked, ...found.keys()])) {
      const version = versions.get(uri);
      const params: PublishDiagnosticsParams = {
        ...{ uri, diagnostics: [...(found.get(uri) ?? [])] },
        ...(version !== undefined && { version }),
      };
      await this.#connection.sendNotification('textDocument/publishDiagnostics', params);
    }
    this.#marked = new Set(found.keys());
  }

  #ofFiles(): Promise<Agents> {
    this.#agents ??= this.#parts.agents();
    return this.#agents;
  }

  async #schemas(): Promise<Schemas> {
    const agents = await this.#ofFiles();
    if (this.#made?.agents !== agents)
      this.#made = {
        ...{ agents, frontMatter: frontMatterSchema(agents) },
        ...{ manifest: manifestSchema(agents), workflow: workflowSchema(agents) },
      };
    return this.#made;
  }
}

/** While someone types, the text is wrong most of the time. */
const PAUSE_MS = 150;

/** Every message begins with it. */
const HEADER = 'content-';

const NOT_THE_PROTOCOL =
  'The standard input is not the Language Server Protocol. Editors start this command: see docs/guide/editor.md.';

const INCREMENTAL = 2;

const NOT_INITIALIZED = -32002;
const INVALID = -32600;
const INTERNAL = -32603;
const FAILED = -32803;

const WATCHED: RegistrationParams = {
  registrations: [
    {
      id: 'files',
      method: 'workspace/didChangeWatchedFiles',
      registerOptions: {
        watchers: [
          { globPattern: '**/*.{md,sh,ps1,bat,yaml,yml}' },
          { globPattern: '**/.raymond/config.toml' },
        ],
      },
    },
  ],
};

const stackOf = (error: unknown) => (error instanceof Error ? (error.stack ?? '') : String(error));
