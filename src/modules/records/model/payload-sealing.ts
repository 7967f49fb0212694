import type { PayloadOwner, PayloadSealer } from './sealed-payload.ts';

/** Payloads of one stream, JSON in UTF-8 or sealed, in the order of their records. */
export interface JoinedPayloads {
  readonly joined: Uint8Array;
  /** Where each ends among the joined ones. */
  readonly ends: readonly number[];
}

export interface UnsealedPayloads extends JoinedPayloads {
  readonly ids: readonly string[];
}

/** Seals each payload on its own, as events have them. */
export type SealTogether = (payloads: UnsealedPayloads) => Promise<JoinedPayloads>;

/** Seals payloads asynchronously. */
export interface PayloadSealing {
  /**
   * With the key that the connection has at the time of this call.
   * @throws GatewayError `invalid_credentials` when it is gone
   */
  begin(owner: PayloadOwner): SealTogether;
}

export function sealEach(
  sealer: PayloadSealer,
  owner: PayloadOwner,
  { ids, ends, joined }: UnsealedPayloads,
): JoinedPayloads {
  let end = 0;
  const sealed = ids.map((id, at) =>
    sealer.seal(owner, id, joined.subarray(ends[at - 1] ?? 0, ends[at])),
  );
  return {
    joined: Buffer.concat(sealed),
    ends: sealed.map(({ length }) => (end += length)),
  };
}
