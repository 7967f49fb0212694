import type { JsonObject } from '#kernel/stable-json.ts';
import type { HostCalls } from '#ports/sandbox.ts';
import { parseArgs, shapes } from './arguments.ts';

type Calls = Pick<
  HostCalls,
  'getCheckpoint' | 'saveCheckpoint' | 'clearCheckpoint' | 'setMetadata' | 'updateMetadata'
>;

/** Checkpoint and metadata of a run that stores nothing: what it writes is visible to itself alone. */
export class InMemoryState {
  checkpoint: JsonObject | null;
  /** Null = those of the connection. */
  metadata: JsonObject | null;
  readonly #storedMetadata: () => Promise<JsonObject>;

  constructor(
    initial: { readonly checkpoint: JsonObject | null; readonly metadata: JsonObject | null },
    storedMetadata: () => Promise<JsonObject>,
  ) {
    this.checkpoint = initial.checkpoint;
    this.metadata = initial.metadata;
    this.#storedMetadata = storedMetadata;
  }

  async currentMetadata(): Promise<JsonObject> {
    return this.metadata ?? (await this.#storedMetadata());
  }

  readonly calls: Calls = {
    getCheckpoint: async () => JSON.stringify(this.checkpoint),
    saveCheckpoint: async (args) => {
      // The guest has validated it: only flat objects arrive here.
      this.checkpoint = parseArgs(shapes.saveCheckpoint, args).checkpoint;
      return 'null';
    },
    clearCheckpoint: async () => {
      this.checkpoint = null;
      return 'null';
    },
    setMetadata: async (args) => {
      this.metadata = parseArgs(shapes.metadata, args).metadata;
      return 'null';
    },
    updateMetadata: async (args) => {
      const { metadata } = parseArgs(shapes.metadata, args);
      this.metadata = { ...(await this.currentMetadata()), ...metadata };
      return 'null';
    },
  };
}
