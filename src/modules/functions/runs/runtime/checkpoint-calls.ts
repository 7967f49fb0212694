import { GatewayError } from '../../../../kernel/errors.ts';
import { limits } from '../../../../kernel/limits.ts';
import type { JsonObject } from '../../../../kernel/stable-json.ts';
import type { HostCalls } from '../../../../ports/sandbox.ts';
import { parseArgs, shapes } from './arguments.ts';
import type { RuntimeDeps } from './deps.ts';

type Calls = Pick<HostCalls, 'getCheckpoint' | 'saveCheckpoint' | 'clearCheckpoint'>;

/** Progress that outlives the run (docs/reference/functions.md#checkpoints). */
export function checkpointCalls({ checkpoint, timeline, slot }: RuntimeDeps): Calls {
  return {
    getCheckpoint: async () => JSON.stringify(await checkpoint.get()),
    saveCheckpoint: async (args) => {
      const flat = flatCheckpoint(parseArgs(shapes.saveCheckpoint, args).checkpoint);
      await checkpoint.save(flat);
      timeline({ what: 'checkpoint_saved', message: JSON.stringify(flat) });
      slot?.afterCheckpoint();
      return 'null';
    },
    clearCheckpoint: async () => {
      await checkpoint.clear();
      timeline({ what: 'checkpoint_cleared' });
      return 'null';
    },
  };
}

/** @throws GatewayError `invalid_checkpoint` unless it is a flat object of strings, numbers and booleans */
function flatCheckpoint(checkpoint: Readonly<Record<string, unknown>>): JsonObject {
  for (const [key, value] of Object.entries(checkpoint)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw invalid(`"${key}" must be a string, a number or a boolean`);
    }
  }
  if (Buffer.byteLength(JSON.stringify(checkpoint)) > limits.checkpointBytesMax) {
    throw invalid('it is larger than 16 kB');
  }
  return checkpoint as JsonObject;
}

function invalid(why: string): GatewayError {
  return new GatewayError('invalid_checkpoint', { message: `Invalid checkpoint: ${why}.` });
}
