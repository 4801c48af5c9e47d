import type { Stats } from 'node:fs';
import { sep } from 'node:path';

/**
 * The only list of files and folders from which programs take commands automatically, in any folder.
 * Git, agents, editors, shells and package managers execute them as soon as someone works in the folder,
 * so an agent that may only edit files could run commands through them. Files whose commands a person
 * starts on purpose stay free, such as package.json, Makefile and the workflows of a CI. So do texts for
 * a model (CLAUDE.md, AGENTS.md), because reading them gives a model no more rights.
 */
export const COMMAND_FILES: readonly string[] = [
  // git and its hooks
  ...['.git', '.gitattributes', '.gitmodules', '.gitconfig', '.husky', '.githooks'],
  ...['.pre-commit-config.yaml', 'lefthook.yml', '.lefthook.yml', '.hg', '.jj'],
  // agents
  ...['.claude', '.claude.json', '.mcp.json', '.opencode', 'opencode.json', 'opencode.jsonc'],
  ...[
    '.codex',
    '.agents',
    '.gemini',
    '.qwen',
    '.pi',
    '.copilot',
    '.cursor',
    '.windsurf',
    '.continue',
  ],
  // editors
  ...['.vscode', '.idea', '.zed', '.devcontainer', '.exrc', '.nvimrc', '.nvim.lua', '.vimrc'],
  ...['.dir-locals.el', '.ripgreprc'],
  // shells
  ...['.envrc', '.mise.toml', 'mise.toml', '.bashrc', '.bash_profile', '.bash_login', '.profile'],
  ...['.zshrc', '.zshenv', '.zprofile', '.ssh'],
  // package managers and build tools
  ...['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', '.pnpmfile.mjs', 'bunfig.toml'],
  ...['.cargo', '.bazelrc', '.pypirc', '.pdbrc', '.gdbinit', '.lldbinit'],
];

/** The first of the names that is a part of a path. Some file systems ignore case. */
export function commandFileIn(
  path: string,
  names: readonly string[] = COMMAND_FILES,
): string | undefined {
  const parts = path.toLowerCase().split(sep);
  return names.find((name) => parts.includes(name));
}

/**
 * Whether a sandbox holds the place of a command file that does not exist, so that its processes cannot create
 * the file. It is empty, nobody may write it, and it is removed with the sandbox.
 */
export function isPlaceholder(path: string, found: Stats): boolean {
  const isBlank = found.isFile() && found.size === 0 && found.nlink === 1;
  return isBlank && (found.mode & 0o222) === 0 && commandFileIn(path) !== undefined;
}
