/** The schemas of payloads: inline in a policy, or in files of the workflow. */
import type { Diagnostic } from '../model/diagnostic.ts';
import type { SourceFile } from '../model/source.ts';
import type {
  AllowedTransition,
  JsonSchema,
  PayloadSchema,
  PromptState,
} from '../model/workflow.ts';
import { clip } from './clip.ts';
import { readJson } from './json.ts';
import {
  isSchemaFile,
  readRef,
  readSchemaDocument,
  refFaults,
  type SchemaDocument,
  type SchemaFault,
} from './json-schema.ts';
import { decodeUtf8 } from './utf8.ts';
import { type Field, YamlReader } from './yaml-reader.ts';

const BAD_SCHEMA = 'bad-schema';

/** `schema: review.schema.json`, or the schema itself. `withSchemas` adds the documents of files. */
export function readPayloadSchema(reader: YamlReader, field: Field): PayloadSchema | undefined {
  const position = reader.positionOf(field.offset);
  if (reader.isMap(field)) {
    const root: JsonSchema = JSON.parse(JSON.stringify(reader.value(field, 'schema') ?? true));
    const { faults } = readSchemaDocument(root);
    for (const one of faults) {
      const { offset } = reader.itemAt(one.path, field);
      const { message, remedy } = one;
      reader.note(offset, { ...kindOf(one), message, remedy });
    }
    return { file: '', documents: { '': root }, ...position };
  }
  const file = reader.text(field, 'schema', 'a JSON Schema, or the name of a file with one');
  if (file === undefined) return undefined;
  if (isSchemaFile(file) && !/[/\\]/.test(file)) return { file, documents: {}, ...position };
  const message = `schema is "${clip(file)}", which is not the name of a schema.`;
  return reader.error(BAD_SCHEMA, field.offset, message, {
    remedy: 'Name a file of the workflow that ends in .schema.json, or write the schema itself.',
  });
}

/** A prompt whose schemas have all their documents, and what is wrong with these. */
export interface SchemasReading {
  readonly state: PromptState;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads the files that the schemas of states name, each once. */
export function schemaReader(
  files: readonly SourceFile[],
): (state: PromptState) => SchemasReading | undefined {
  const contents = new Map(
    files.flatMap(({ name, content }) => (isSchemaFile(name) ? [[name, content]] : [])),
  );
  const read = new Map<string, FileReading | undefined>();
  const fileNamed = (name: string) => {
    if (!read.has(name)) read.set(name, readSchemaFile(name, contents.get(name)));
    return read.get(name);
  };
  return (state) => {
    const { allowed } = state.policy;
    if (!allowed?.some(({ schema }) => schema)) return undefined;
    const diagnostics: Diagnostic[] = [];
    const complete = (entry: AllowedTransition): AllowedTransition => {
      if (!entry.schema) return entry;
      const found = documentsOf(entry.schema, state.place.file, fileNamed);
      diagnostics.push(...found.diagnostics);
      return { ...entry, schema: { ...entry.schema, documents: found.documents } };
    };
    const policy = { ...state.policy, allowed: allowed.map(complete) };
    return { state: { ...state, policy }, diagnostics };
  };
}

interface FileReading {
  readonly document: SchemaDocument | undefined;
  /** What is wrong with the file by itself. */
  readonly diagnostics: readonly Diagnostic[];
  /** The diagnostic of a fault in it. */
  readonly at: (fault: SchemaFault) => Diagnostic;
}

/** The documents of a schema, and those that they refer to. */
function documentsOf(
  { file, documents, line, column }: PayloadSchema,
  stateFile: string,
  fileNamed: (name: string) => FileReading | undefined,
): Pick<PayloadSchema, 'documents'> & { readonly diagnostics: readonly Diagnostic[] } {
  const here = (message: string, remedy: string): Diagnostic => ({
    severity: 'error',
    code: BAD_SCHEMA,
    file: stateFile,
    ...{ line, column, message, remedy },
  });
  const found = new Map<string, SchemaDocument>();
  const diagnostics: Diagnostic[] = [];
  const inline = documents[''];
  if (inline !== undefined) found.set('', readSchemaDocument(inline));
  const wanted = new Set(inline === undefined ? [file] : []);
  const want = (from: string, { refs }: SchemaDocument) => {
    for (const { written } of refs) {
      const target = readRef(from, written)?.file;
      if (target && wanted.size < MOST_FILES) wanted.add(target);
    }
  };
  for (const [name, document] of found) want(name, document);
  // The loop also visits the files that are added while it runs.
  for (const name of wanted) {
    const read = fileNamed(name);
    diagnostics.push(...(read?.diagnostics ?? []));
    if (read?.document) found.set(name, read.document);
    if (read?.document) want(name, read.document);
    if (!read && name === file)
      diagnostics.push(
        here(
          `There is no file ${clip(name)} in the workflow.`,
          'Create it, or write the schema itself.',
        ),
      );
  }
  for (const [name, faults] of refFaults(found)) {
    for (const fault of faults) {
      const at = fileNamed(name)?.at;
      diagnostics.push(at ? at(fault) : here(fault.message, fault.remedy ?? 'Correct it.'));
    }
  }
  const roots = [...found].map(([name, { root }]) => [name, root] as const);
  return { documents: Object.fromEntries(roots), diagnostics };
}

const MOST_FILES = 50;
const MOST_KIB = 256;

function readSchemaFile(
  file: string,
  content: SourceFile['content'] | undefined,
): FileReading | undefined {
  if (!content || 'state' in content) return undefined;
  const only = (fault: SchemaFault): FileReading => {
    const at = (one: SchemaFault) => faultIn(file, '', one);
    return { document: undefined, diagnostics: [at(fault)], at };
  };
  if ('problem' in content) {
    return only({ path: [], message: content.problem, remedy: content.remedy });
  }
  if (content.bytes.length > MOST_KIB * 1024) {
    return only({
      path: [],
      message: `${file} has more than ${MOST_KIB} KiB.`,
      remedy: 'Make it smaller.',
    });
  }
  const decoded = decodeUtf8(content.bytes);
  if (!decoded.ok) {
    return only({ path: [], message: `${file} is not UTF-8.`, remedy: 'Save the file as UTF-8.' });
  }
  const read = readJson(decoded.text);
  if (!read.ok) {
    return only({
      path: [],
      message: `${file} is not JSON: ${clip(read.problem)}.`,
      remedy: 'Correct it.',
    });
  }
  const document = readSchemaDocument(read.value);
  const at = (fault: SchemaFault) => faultIn(file, decoded.text, fault);
  return { document, diagnostics: document.faults.map(at), at };
}

/** JSON is YAML, so that its reader finds the place. */
function faultIn(file: string, text: string, fault: SchemaFault): Diagnostic {
  const reader = new YamlReader(file, text);
  const { message, remedy } = fault;
  const position = reader.positionOf(reader.itemAt(fault.path).offset);
  return { ...kindOf(fault), file, ...position, message, ...(remedy !== undefined && { remedy }) };
}

const kindOf = ({ isHarmless }: SchemaFault) =>
  isHarmless
    ? ({ severity: 'note', code: 'unchecked-format' } as const)
    : ({ severity: 'error', code: BAD_SCHEMA } as const);
