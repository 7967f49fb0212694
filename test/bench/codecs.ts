/**
 * What a codec of ours costs beside the one that could replace it, in µs and bytes per message or payload:
 * the row of the embedded log beside a record batch of Kafka, sealed payloads in blocks beside one by one, and changes
 * of records by hand beside Avro's library.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { DirectoryView, decodeRow, encodeRow } from '#adapters/event-log/embedded/row-format.ts';
import { RecordSet } from '#adapters/event-log/kafka/record-decoder.ts';
import { encodeRecords, recordBatch } from '#adapters/event-log/kafka/record-encoder.ts';
import { blankChange, type RecordChange } from '#modules/records/model/events.ts';
import { PayloadSealer } from '#modules/records/model/sealed-payload.ts';
import {
  ChangeEncoder,
  ChangeIds,
  encodeContext,
} from '#modules/records/owner/decisions/change-encoder.ts';
import { Block, blockEntriesMax, encodeBlock } from '#modules/records/owner/state/payload-block.ts';
import { ChangeDecoder } from '#modules/records/projection/row-builder.ts';
import { localSchemas } from '#test/support/worlds/records.ts';
import { report, round, type Figures } from './measure.ts';
import { contact } from './payloads.ts';

const batch = 1_000;
const rounds = 60;
const payloads = Array.from({ length: batch }, (_, at) => Buffer.from(JSON.stringify(contact(at))));
const idOf = (at: number): string => String(contact(at)['id']);
const messages = payloads.map((value, at) => ({
  key: `env-1/4f6c/Contact/base/${idOf(at)}`,
  value,
  headers: {
    ce_specversion: '1.0',
    ce_id: createHash('sha256').update(String(at)).digest('base64url').slice(0, 22),
    ce_type: 'svc.record.added.v1',
    ce_source: '/environments/env-1/connections/4f6c',
    'content-type': 'application/avro',
    'svc-stream': 'env-1/4f6c/Contact/base',
    'svc-seq': String(1_000_000 + at),
  },
  timestamp: 1_790_000_000_000 + at,
}));

/** µs per message: the median of the rounds after the first third. */
function each(work: () => unknown): number {
  const took = Array.from({ length: rounds }, () => {
    const started = process.hrtime.bigint();
    work();
    return Number(process.hrtime.bigint() - started) / 1000 / batch;
  });
  return round(took.slice(rounds / 3).sort((a, b) => a - b)[rounds / 3] ?? 0);
}

function logFormats(): Figures {
  const row = () => encodeRow(messages, 0, batch, 0);
  const { data, directoryLength, codec, crc } = row();
  const bytes = new Uint8Array(data);
  const place = { base: 0, next: batch, crc, codec };
  const stored = {
    ...place,
    directory: bytes.subarray(0, directoryLength),
    body: bytes.subarray(directoryLength),
  };
  const owner = { producerId: '1', producerEpoch: 0, sequence: 0, isTransactional: false };
  const kafka = () => recordBatch(encodeRecords(messages, 0), owner);
  const records = kafka();
  const keysOfRow = () => {
    const view = new DirectoryView(stored);
    for (let at = 0; at < batch; at += 1) view.key(at);
  };
  const decoded = () => new RecordSet(records, []).decodeNext(0).messages;
  return {
    row_b: round(bytes.length / batch),
    kafka_b: round(records.length / batch),
    row_encode_us: each(row),
    kafka_encode_us: each(kafka),
    row_decode_us: each(() => decodeRow(stored, 0).map(({ key, headers }) => [key, headers])),
    kafka_decode_us: each(() => decoded().map(({ key, headers }) => [key, headers])),
    row_keys_us: each(keysOfRow),
    kafka_keys_us: each(() => decoded().map(({ key }) => key)),
  };
}

function sealedPayloads(): Figures {
  const cipher = createAesGcm(randomBytes(32));
  const sealBytes = (_: string, plain: Uint8Array, context: string) => cipher.seal(plain, context);
  const sealer = new PayloadSealer({ sealBytes });
  const owner = { key: 'env-1/4f6c/Contact/base', connectionUid: '4f6c' };
  const one = () => payloads.map((json, at) => sealer.seal(owner, idOf(at), json));
  const entries = payloads.map((bytes, position) => ({
    position,
    id: idOf(position),
    payload: { encoding: 'secret' as const, bytes },
  }));
  const sealTogether = ({ ids, lengths }: { ids: readonly string[]; lengths: readonly number[] }) =>
    JSON.stringify([ids, lengths]);
  const blocks = () => {
    const made: ReturnType<typeof encodeBlock>[] = [];
    for (let at = 0; at < batch; at += blockEntriesMax) {
      const some = entries.slice(at, at + blockEntriesMax);
      made.push(encodeBlock(some, (together, plain) => cipher.seal(plain, sealTogether(together))));
    }
    return made;
  };
  // Learns its dictionary.
  one();
  const alone = one().reduce((sum, { length }) => sum + length, 0);
  const inBlocks = blocks();
  const size = inBlocks.reduce(
    (sum, { data, secrets }) => sum + data.length + (secrets?.length ?? 0),
    0,
  );
  const opened = () =>
    inBlocks.forEach((encoded, index) => {
      const count = Math.min(blockEntriesMax, batch - index * blockEntriesMax);
      new Block(encoded, count, (together, sealed) =>
        cipher.open(sealed, sealTogether(together)),
      ).payload(0);
    });
  return {
    payload_alone_b: round(alone / batch),
    payload_in_block_b: round(size / batch),
    payload_alone_us: each(one),
    payload_in_block_us: each(blocks),
    block_open_us: round((each(opened) * batch) / inBlocks.length),
  };
}

async function changesOfRecords(): Promise<Figures> {
  const codec = await localSchemas().codec<RecordChange>('svc.records.v1');
  const encoder = new ChangeEncoder(codec.encode(blankChange));
  const context = {
    environmentUid: 'a4e0e5f1-5f0c-4c3e-8f0e-1c9f6a3d2b10',
    integration: 'crm',
    connectionId: 'customer-1',
    connectionUid: '4f6c0b1e-9a3d-4a55-b1f7-0d6f5c2e8a91',
    model: 'Contact',
    variant: 'base',
    actor: 'run',
    runId: 'f1a2b3c4-d5e6-4788-99aa-bbccddeeff00',
    syncName: 'contacts',
    generation: '1790000000000000',
    epoch: 3,
    passId: null,
  };
  const encoded = encodeContext(context);
  const ids = new ChangeIds('env-1/4f6c/Contact/base', context.generation);
  const fields = payloads.map((_, at) => ({
    eventId: ids.of(at + 1),
    occurredAt: 1_790_000_000_000_000 + at,
    recordId: idOf(at),
    action: 'added' as const,
    seq: at + 1,
    version: 1,
    position: at + 1,
    previousPosition: null,
    hash: '0123456789abcdef0123456789abcdef',
    previousHash: null,
    firstSeenAt: 1_790_000_000_000_000 + at,
    modifiedAt: 1_790_000_000_000_000 + at,
    deletedAt: null,
    prunedAt: null,
  }));
  const byHand = () =>
    fields.map((change, at) =>
      encoder.encode(encoded, change, { bytes: payloads[at] ?? null, encoding: 'json' }),
    );
  const values = byHand();
  const changes = values.map((value) => codec.decode(value));
  const decoder = new ChangeDecoder(codec);
  return {
    change_encode_us: each(byHand),
    change_encode_avsc_us: each(() => changes.map((change) => codec.encode(change))),
    change_decode_us: each(() => values.map((value) => decoder.decode(value))),
    change_decode_avsc_us: each(() => values.map((value) => codec.decode(value))),
  };
}

report({ ...logFormats(), ...sealedPayloads(), ...(await changesOfRecords()) });
