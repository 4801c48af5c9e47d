/** As a key of the user, with which every Raymond process of a run seals and reads its records of steps. */
export const STEP_KEY = Buffer.alloc(32, 1);
