import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDebugFolderOf, type Project, runPaths } from './project.ts';

/** Removes the journal last. Until then the run is still listed, so the removal can be repeated. */
export async function removeRun(project: Project, id: string): Promise<void> {
  const { folder, tasks, pointer, stateFile, journal } = runPaths(project, id);
  const debug = await readdir(project.debugFolder).catch(() => []);
  const folders = debug
    .filter((name) => isDebugFolderOf(name, id))
    .map((name) => join(project.debugFolder, name));
  const beside = (await readdir(project.stateFolder))
    .filter((name) => isKeptAside(name, id) || name.startsWith(`.${id}.`))
    .map((name) => join(project.stateFolder, name));
  for (const path of [...folders, folder, tasks, ...beside, pointer, stateFile, journal])
    await rm(path, { recursive: true, force: true });
}

/** A damaged or an older file of the run. */
function isKeptAside(name: string, id: string): boolean {
  return name.startsWith(`${id}.json`) && /^l?\.(broken|old)-\d+$/.test(name.slice(id.length + 5));
}
