import type { Handlers } from './decide.ts';
import { remove, save, update } from './decide-records.ts';
import { barrier, close, empty, lookup, prune, strategy } from './decide-stream.ts';
import { revert } from './revert.ts';
import { deletedKeys, passEnd, passStart } from './delete-tracking.ts';

export const handlers: Handlers = {
  save,
  update,
  delete: remove,
  pass_start: passStart,
  pass_end: passEnd,
  deleted_keys: deletedKeys,
  lookup,
  strategy,
  prune,
  revert,
  empty,
  close,
  barrier,
};
