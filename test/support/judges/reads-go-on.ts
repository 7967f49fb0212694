/** Readers and a writer at one address while the gateway behind it is replaced. */
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFrontDoor, type FrontDoor } from '../fakes/front-door.ts';
import { accessTo, type Answer, type GatewayAccess } from '../processes/gateway.ts';
import {
  eventually,
  succeeded,
  type CrmConnection,
  type CrmWorld,
  type Page,
} from '../worlds/crm-world.ts';

const contactsBefore = 40;
const pageLimit = 7;
const followersCount = 2;
const pollMs = 20;
const writePauseMs = 100;
/** The longest wait that `Retry-After` may name. */
const retryMaxS = 5;
const variable = 'LAST';
/** Writes that are accepted before the move, and after it. */
const writesEach = 3;

export interface SeenByReaders {
  /** By follower of the cursor, the ids in the order in which it read them. */
  readonly followed: readonly (readonly string[])[];
  /** All that was written, in that order. */
  readonly written: readonly string[];
  /** A read of all pages from the start in the end. */
  readonly whole: readonly string[];
  /** A variable that the writer set to the id of each record. */
  readonly variable: string | undefined;
  /** Answers to reads that are neither 200 nor a 503 with a short `Retry-After`. */
  readonly unexpected: readonly string[];
  readonly reads: number;
  readonly refusedReads: number;
  /** Of those, the ones that no gateway answered. */
  readonly unansweredReads: number;
  readonly refusedWrites: number;
}

/** Null if it is a page; otherwise what is wrong with it, empty for a refusal that a client must expect. */
function problemOf({ status, headers, body }: Answer): string | null {
  if (status === 200) return null;
  const wait = Number(headers.get('retry-after') ?? Number.NaN);
  return status === 503 && wait >= 1 && wait <= retryMaxS
    ? ''
    : `${status} ${JSON.stringify(body)}`;
}

class Traffic {
  readonly unexpected: string[] = [];
  reads = 0;
  refusedReads = 0;
  refusedWrites = 0;
  accepted = 0;
  isEnding = false;
  readonly written: string[] = [];
  readonly #door: GatewayAccess;
  readonly #crm: CrmConnection;

  constructor(door: GatewayAccess, crm: CrmConnection) {
    this.#door = door;
    this.#crm = crm;
  }

  /** Null where the read was refused. */
  async read(path: string): Promise<Answer | null> {
    const answer = await this.#door.call('GET', path, { headers: this.#crm.headers });
    this.reads += 1;
    const problem = problemOf(answer);
    if (problem === null) return answer;
    this.refusedReads += 1;
    if (problem !== '') this.unexpected.push(`${path}: ${problem}`);
    return null;
  }

  async page(cursor: string | null): Promise<Page | null> {
    const query = new URLSearchParams({ model: 'Contact', limit: String(pageLimit) });
    if (cursor !== null) query.set('cursor', cursor);
    return (await this.read(`/records?${query.toString()}`))?.body as Page | null;
  }

  /** Follows one cursor from the start until everything that was written is read. */
  async follow(): Promise<string[]> {
    const seen: string[] = [];
    for (let cursor: string | null = null; ;) {
      const isLast = this.isEnding && seen.length >= this.written.length;
      const records: Page['records'] | undefined = (await this.page(cursor))?.records;
      seen.push(...(records ?? []).map(({ id }) => id));
      cursor = records?.at(-1)?._svc_metadata.cursor ?? cursor;
      if (isLast && records?.length === 0) return seen;
      await sleep(pollMs);
    }
  }

  async poll(paths: readonly string[]): Promise<void> {
    while (!this.isEnding) {
      for (const path of paths) await this.read(path);
      await sleep(pollMs);
    }
  }

  /** Repeats the request until it is accepted. */
  async write(method: string, path: string, body: object): Promise<void> {
    await eventually(
      () => this.#door.call(method, path, { body }),
      (answer) => {
        const isRefused = answer.status === 503;
        if (isRefused) this.refusedWrites += 1;
        else succeeded(answer);
        return !isRefused;
      },
    );
    this.accepted += 1;
  }

  /** One contact more at the provider. @returns its id */
  provide(): string {
    const { account } = this.#crm;
    const id = `c-${String(account.contacts.length).padStart(4, '0')}`;
    account.contacts.push({ id, name: id });
    this.written.push(id);
    return id;
  }

  /** One contact more, the sync that saves it, and a variable. */
  async add(): Promise<void> {
    const id = this.provide();
    await this.write('PUT', `/environment-variables/${variable}`, { value: id });
    await this.sync();
  }

  async sync(): Promise<void> {
    const { id: connection_id } = this.#crm;
    const body = { provider_config_key: 'crm', connection_id, syncs: ['contacts'] };
    await this.write('POST', '/sync/trigger', body);
  }

  async keepWriting(): Promise<void> {
    while (!this.isEnding) {
      await this.add();
      await sleep(writePauseMs);
    }
  }

  /** A sync that was running may have read before the last contact was there. */
  async syncUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.sync();
      await sleep(10 * writePauseMs);
    }
  }
}

/**
 * Reads and writes all the time while `move` replaces the gateway of the world behind the door.
 * @param move resolves with the last gateway, to which the door leads then
 */
export async function readWhileMoving(
  { gateway }: Pick<CrmWorld, 'gateway'>,
  crm: CrmConnection,
  move: (door: FrontDoor) => Promise<GatewayAccess>,
): Promise<SeenByReaders> {
  await using door = await openFrontDoor();
  door.leadTo(gateway);
  // The door has not every header of a response, against which the document could be held.
  const access = accessTo(door.url, gateway, () => undefined);
  const traffic = new Traffic(access, crm);
  for (let at = 0; at < contactsBefore; at += 1) traffic.provide();
  await crm.run('contacts');
  const following = Array.from({ length: followersCount }, () => traffic.follow());
  const polled = ['/connections', '/integrations', '/records/history?model=Contact&id=c-0000'];
  const running = [...following, traffic.poll(polled), traffic.keepWriting()];
  // One that fails before its turn is not without a handler.
  for (const one of running) one.catch(() => undefined);
  const moreAccepted = async (): Promise<void> => {
    const before = traffic.accepted;
    await eventually(
      async () => traffic.accepted,
      (now) => now >= before + writesEach,
    );
  };
  await Promise.race([moreAccepted(), ...running]);
  const last = await move(door);
  await Promise.race([moreAccepted(), ...running]);
  traffic.isEnding = true;
  await Promise.all(running.slice(followersCount));
  let isRead = false;
  const followed = await Promise.all([
    Promise.all(following).finally(() => (isRead = true)),
    traffic.syncUntil(() => isRead),
  ]);
  const { unexpected, reads, refusedReads, refusedWrites, written } = traffic;
  return {
    followed: followed[0],
    written,
    whole: await wholeOf(traffic),
    variable: await variableOf(last),
    unexpected,
    reads,
    refusedReads,
    unansweredReads: door.refusedReads,
    refusedWrites,
  };
}

async function wholeOf(traffic: Traffic): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await traffic.page(cursor);
    if (page === null) continue;
    found.push(...page.records.map(({ id }) => id));
    cursor = page.next_cursor;
    if (cursor === null) return found;
  }
}

async function variableOf(gateway: GatewayAccess): Promise<string | undefined> {
  const listed = succeeded(await gateway.call('GET', '/environment-variables')) as {
    readonly name: string;
    readonly value: string;
  }[];
  return listed.find(({ name }) => name === variable)?.value;
}

interface Projections {
  readonly data: readonly { readonly generations: readonly { readonly lag: number }[] }[];
}

/** Resolves when the tables of the gateway have what its log has. */
export async function caughtUp(gateway: GatewayAccess): Promise<void> {
  const projections = async () =>
    succeeded(
      await gateway.call('GET', '/projections', { key: gateway.accountKey }),
    ) as Projections;
  await eventually(projections, ({ data }) =>
    data.every(({ generations }) => generations.every(({ lag }) => lag === 0)),
  );
}

/** What the new installation needs of the data folder of the former one. */
export async function copyLog(dataDir: string, next: string): Promise<void> {
  await mkdir(next, { mode: 0o700 });
  for (const part of ['log', 'root.key']) {
    await cp(join(dataDir, part), join(next, part), { recursive: true });
  }
}
