import { join } from 'node:path';
import { readRegularFileSync } from '../../files/regular-file.ts';

/**
 * The model that Claude Code takes in a fresh session when none is named. It has to be named in one
 * that goes on, which would otherwise keep the model that an earlier state named.
 */
export function ownModel(
  environment: Readonly<Record<string, string | undefined>>,
  configFolder: string,
  cwd: string,
): string {
  const settings = [
    join(cwd, '.claude', 'settings.local.json'),
    join(cwd, '.claude', 'settings.json'),
    join(configFolder, 'settings.json'),
  ];
  return environment.ANTHROPIC_MODEL || settings.map(modelIn).find(Boolean) || 'default';
}

const MAX_SETTINGS_BYTES = 16 * 1024 * 1024;

function modelIn(file: string): string | undefined {
  try {
    const { model } = JSON.parse(readRegularFileSync(file, MAX_SETTINGS_BYTES).toString('utf8'));
    return typeof model === 'string' ? model : undefined;
  } catch {
    return undefined;
  }
}
