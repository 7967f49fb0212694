import type { PayloadSealing, SealTogether } from '../../model/payload-sealing.ts';
import type { PayloadOwner } from '../../model/sealed-payload.ts';

/** Sent to be sealed at once: enough that a hand-over costs little, few enough that sealing begins early. */
const togetherMax = 250;
const togetherBytesMax = 256 * 1024;

/** Payloads of one stream that wait for one another. */
interface Group {
  readonly owner: PayloadOwner;
  readonly seal: SealTogether;
  readonly ids: string[];
  readonly payloads: Uint8Array[];
  readonly ends: number[];
  readonly done: ((sealed: Uint8Array) => void)[];
}

/** Gathers payloads and has them sealed while their stream's owner goes on deciding. */
export class PendingEncryption {
  readonly #sealing: PayloadSealing;
  #group: Group | null = null;
  #underWay: Promise<void>[] = [];

  constructor(sealing: PayloadSealing) {
    this.#sealing = sealing;
  }

  /** Whether some were sent since `finish` was called last. */
  get isUnderWay(): boolean {
    return this.#underWay.length > 0;
  }

  /**
   * `json`: in UTF-8. `done` gets the payload of the event before `finish` resolves.
   * @throws GatewayError `invalid_credentials` when the key of the connection is gone
   */
  add(
    owner: PayloadOwner,
    recordId: string,
    json: Uint8Array,
    done: (sealed: Uint8Array) => void,
  ): void {
    if (this.#group?.owner.key !== owner.key) this.#send();
    this.#group ??= newGroup(owner, this.#sealing.begin(owner));
    const { ids, payloads, ends } = this.#group;
    ids.push(recordId);
    payloads.push(json);
    const end = (ends.at(-1) ?? 0) + json.length;
    ends.push(end);
    this.#group.done.push(done);
    if (ids.length === togetherMax || end >= togetherBytesMax) this.#send();
  }

  /** Resolves when all that was added up to now is sealed. */
  async finish(): Promise<void> {
    this.#send();
    const underWay = this.#underWay;
    this.#underWay = [];
    await Promise.all(underWay);
  }

  #send(): void {
    if (this.#group === null) return;
    const { seal, ids, payloads, ends, done } = this.#group;
    this.#group = null;
    const sealed = seal({ ids, ends, joined: Buffer.concat(payloads) }).then((answer) => {
      for (const [at, publish] of done.entries()) {
        publish(answer.joined.subarray(answer.ends[at - 1] ?? 0, answer.ends[at]));
      }
    });
    // `finish` rejects with it; until then the rejection has no other handler.
    sealed.catch(() => undefined);
    this.#underWay.push(sealed);
  }
}

const newGroup = (owner: PayloadOwner, seal: SealTogether): Group => ({
  owner,
  seal,
  ids: [],
  payloads: [],
  ends: [],
  done: [],
});
