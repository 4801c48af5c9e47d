import { findWorkflows } from '../load/find-workflows.ts';
import { looseLibrary } from './wire.ts';

/** The paths of the workflows in and below a folder, with `.` for the folder itself. */
export async function projectWorkflows(folder: string): Promise<readonly string[]> {
  const below = await findWorkflows(folder);
  const isOne = await looseLibrary(folder, {})
    .load('.')
    .then(
      () => true,
      () => false,
    );
  return isOne ? ['.', ...below] : below;
}
