import type { NumberKind } from '../parse/yaml-numbers.ts';

/** A JSON Schema, draft 7. Its form is not checked further. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** YAML reads 42 and true as other types. Raymond uses the text as written. */
export const TEXT: JsonSchema = { type: ['string', 'number', 'boolean'] };

export function numberSchema({ isWhole, least, isAbove }: NumberKind): JsonSchema {
  return {
    type: isWhole ? 'integer' : 'number',
    ...(isAbove ? { exclusiveMinimum: least } : { minimum: least }),
  };
}

/** A map with these keys and no others. */
export function mapSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

export function described(description: string, schema: JsonSchema): JsonSchema {
  return { description, ...schema };
}
