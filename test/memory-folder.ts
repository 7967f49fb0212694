import { accessSync, constants, statfsSync } from 'node:fs';

const sharedMemory = '/dev/shm';
/** Beside what the processes of the tests take. */
const availableMinBytes = 12 * 1024 ** 3;
/** Several times what the data folders of a run take at once. */
const roomMinBytes = 4 * 1024 ** 3;

/**
 * A folder in memory, for the data of tests: on a disk, making and removing its many files takes a tenth of the
 * processor time of a run, and each write to a log waits.
 * @returns null where there is none, or too little memory
 */
export function memoryFolder(): string | null {
  if (process.availableMemory() < availableMinBytes) return null;
  try {
    accessSync(sharedMemory, constants.W_OK);
    const { bavail, bsize } = statfsSync(sharedMemory);
    return bavail * bsize < roomMinBytes ? null : sharedMemory;
  } catch {
    return null;
  }
}
