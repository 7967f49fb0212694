import { join } from 'node:path';
import { type ReplyValue, deadLettersTopic, repliesTopic } from '#control-plane/message-codec.ts';
import type { Ports } from '#control-plane/ports.ts';
import type { PublicCodec } from '#control-plane/public-message.ts';
import type { Retention } from '#modules/access/environments/retention.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { Codec } from '#ports/schemas.ts';
import type { OnLogIncomplete } from '#streams/owner/own-partition.ts';
import { recordCommandsTopic, type RecordCommandValue } from '../model/commands.ts';
import {
  blankChange,
  type RecordChange,
  headsTopic,
  recordsTopic,
  type StreamHeadValue,
} from '../model/events.ts';
import type { PayloadSealing } from '../model/sealed-payload.ts';
import { Snapshots } from './state/snapshots.ts';

export const tickMsDefault = 5_000;

export const recordOwnersGroup = 'svc.record-owners';

export interface RecordOwnersDeps extends Ports {
  readonly vault: Pick<Vault, 'ready' | 'sealBytes' | 'openBytes' | 'fingerprint'>;
  readonly sealing: PayloadSealing;
  /** How long an environment keeps its records. */
  readonly retentionOf: (environmentUid: string) => Retention;
  /** Folder of the state stores, one file per partition; made when missing. */
  readonly directory: string;
  /**
   * Where crash tests may end the process: `records:before-transaction`, `records:during-transaction`,
   * `records:after-transaction`, `records:before-state-commit`, `records:after-state-commit`.
   */
  readonly faultPoint?: (name: string) => void | Promise<void>;
  /** Between looks at what time asks for (saving marks, deleting old commands). Default 5 s. */
  readonly tickMs?: number;
  /** Where the stores of partitions are copied to, and how often (a day); absent = not at all. */
  readonly copies?: { readonly directory: string; readonly everyMs?: number };
  /** Keeps stores of the partitions that other nodes own as well, looking for changes so often; absent = no. */
  readonly standby?: { readonly lookEveryMs?: number };
  readonly onLogIncomplete?: OnLogIncomplete;
  /** Wait before a partition is acquired again after a failure; doubles up to 10 s. Default 100 ms. */
  readonly retryMs?: number;
}

/** What all partitions of this thread share. */
export interface OwnerServices extends RecordOwnersDeps {
  readonly commandCodec: Codec<RecordCommandValue>;
  readonly changeCodec: Codec<RecordChange>;
  readonly headCodec: Codec<StreamHeadValue>;
  readonly replyCodec: Codec<ReplyValue>;
  readonly deadLetterCodec: PublicCodec;
  /** A value of the topic of changes, for its frame. */
  readonly encodedSample: Uint8Array;
  readonly deadLetterPartitions: number;
  readonly replyPartitions: number;
  /** Names the log and the keys that hashes were made with: state of another origin is of no use. */
  readonly origin: string;
  readonly snapshots: Snapshots | null;
}

export async function share(deps: RecordOwnersDeps): Promise<OwnerServices> {
  const { schemas, log, vault, copies, clock, logger } = deps;
  const origin = vault.fingerprint('state store', await log.identity()).slice(0, 32);
  const changeCodec = await schemas.codec<RecordChange>(recordsTopic);
  return {
    ...deps,
    changeCodec,
    commandCodec: await schemas.codec<RecordCommandValue>(recordCommandsTopic),
    headCodec: await schemas.codec<StreamHeadValue>(headsTopic),
    replyCodec: await schemas.codec<ReplyValue>(repliesTopic),
    deadLetterCodec: await schemas.codec(deadLettersTopic),
    encodedSample: changeCodec.encode(blankChange),
    deadLetterPartitions: await log.partitions(deadLettersTopic),
    replyPartitions: await log.partitions(repliesTopic),
    origin,
    snapshots:
      copies === undefined
        ? null
        : new Snapshots({ ...copies, folder: join(copies.directory, origin), clock, logger }),
  };
}
