import { configKeys } from '../cli/config-file.ts';
import { CONFIG_OPTIONS, type OptionSpec } from '../cli/options.ts';
import { described, type JsonSchema, mapSchema } from './json-schema.ts';

export function configSchema(): JsonSchema {
  const properties = CONFIG_OPTIONS.flatMap((spec) =>
    configKeys(spec).map((key) => [key, described(spec.meaning, valueSchema(spec))]),
  );
  return mapSchema({ raymond: mapSchema(Object.fromEntries(properties)) });
}

function valueSchema({ kind }: OptionSpec): JsonSchema {
  switch (kind) {
    case 'flag':
      return { type: 'boolean' };
    case 'number':
      return { type: 'number', minimum: 0 };
    case 'count':
      return { type: 'integer', minimum: 0 };
    case 'text':
      return { type: 'string' };
    case 'list':
      return { type: 'array', items: { type: 'string' } };
  }
}
