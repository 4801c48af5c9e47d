import { afterAll, beforeAll } from 'vitest';
import { newDatabase } from '../postgres/new-database.ts';
import { Fleet } from './fleet.ts';

/** A database and a project for all tests of a file. */
export function useFleet(
  files: Readonly<Record<string, string>>,
  prepare: (fleet: Fleet) => void,
): void {
  let fleet: Fleet | undefined;
  let removeDatabase = async () => {};
  beforeAll(async () => {
    const url = await newDatabase((remove) => {
      removeDatabase = remove;
    });
    fleet = await Fleet.open(url, files);
    prepare(fleet);
  });
  afterAll(async () => {
    await fleet?.dispose();
    await removeDatabase();
  });
}
