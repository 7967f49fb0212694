import type { JsonObject } from '../../kernel/stable-json.ts';
import { parseArgs, shapes } from '../../modules/functions/runs/runtime/arguments.ts';
import type { HostCalls } from '../../ports/sandbox.ts';

/** A checkpoint with the lifetime of the run, in a dry run and in its replay alike. */
export function checkpointCalls(first: JsonObject | null): HostCalls {
  let checkpoint = first;
  return {
    getCheckpoint: async () => JSON.stringify(checkpoint),
    saveCheckpoint: async (args) => {
      // The runtime has validated it: only flat objects arrive here.
      checkpoint = parseArgs(shapes.saveCheckpoint, args).checkpoint;
      return 'null';
    },
    clearCheckpoint: async () => {
      checkpoint = null;
      return 'null';
    },
  };
}
