/** A JSON Schema, draft 7, as far as we say anything about its form. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** YAML reads 42 and true as something else, and Raymond takes them as the text that was written. */
export const TEXT: JsonSchema = { type: ['string', 'number', 'boolean'] };

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
