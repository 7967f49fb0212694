import type { Transferable } from 'node:worker_threads';
import type { Clock } from '#kernel/time.ts';
import type { StreamId } from '#modules/records/model/stream.ts';
import { createRecordReader } from '#modules/records/read/read-ahead.ts';
import type {
  DroppedStreams,
  PageQuery,
  RecordReader,
  RecordSource,
  Slice,
} from '#modules/records/read/reader.ts';
import type { Methods, Peer } from '../threads/rpc.ts';
import { TransferredResult } from '../threads/rpc.ts';

const droppedEvent = 'records.dropped';
const cancelEvent = 'records.published.cancel';

/** Served by the projection thread, on every connection to another thread. */
export function recordSourceMethods(source: RecordSource): Methods {
  const waiting = new Map<string, AbortController>();
  return {
    'records.slice': async (query: PageQuery) => {
      const slice = await source.slice(query);
      return new TransferredResult(slice, buffersOf(slice));
    },
    'records.positionOf': (stream: StreamId, cursor: string) => source.positionOf(stream, cursor),
    'records.counts': (streams: readonly StreamId[]) => source.counts(streams),
    'records.published': async (id: string, partition: number, offset: number) => {
      const abort = new AbortController();
      waiting.set(id, abort);
      try {
        await source.published(partition, offset, abort.signal);
      } finally {
        waiting.delete(id);
      }
    },
    [cancelEvent]: (id: string) => waiting.get(id)?.abort(),
    'records.reached': () => source.reached(),
  };
}

/** Forwards dropped streams on the same port as the responses, so that the notification precedes later responses. */
export function announceDropped(source: RecordSource, peer: Peer): void {
  source.onDropped((streams) => peer.emit(droppedEvent, streams));
}

/** The reader of another thread: its read-ahead is local, so that most pages need no call. */
export function connectRecordReader(peer: Peer, clock: Clock): RecordReader {
  return createRecordReader(remoteSource(peer), clock);
}

function remoteSource(peer: Peer): RecordSource {
  let lastId = 0;
  return {
    slice: (query) => peer.call<Slice>('records.slice', [query]),
    positionOf: (stream, cursor) => peer.call('records.positionOf', [stream, cursor]),
    counts: (streams) => peer.call('records.counts', [streams]),
    async published(partition, offset, signal) {
      signal.throwIfAborted();
      const id = String(++lastId);
      const cancel = (): void => void peer.call(cancelEvent, [id]).catch(() => undefined);
      signal.addEventListener('abort', cancel, { once: true });
      try {
        await peer.call('records.published', [id, partition, offset]);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    reached: () => peer.call('records.reached', []),
    onDropped: (listener: (streams: DroppedStreams) => void) => peer.on(droppedEvent, listener),
  };
}

function buffersOf({ text, ends, positions, times }: Slice): Transferable[] {
  const buffers = [text, ends, positions, times].map((view) => view.buffer as ArrayBuffer);
  return [...new Set(buffers)];
}
