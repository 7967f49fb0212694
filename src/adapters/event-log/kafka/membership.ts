import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import type { JoinAnswer } from 'kafkajs/src/broker/index.js';
import type { GroupHandler, Membership } from '#ports/event-log.ts';
import { assignSticky } from '../sticky-assignment.ts';
import { coordinatorKind, type BrokerConnection } from './broker-connection.ts';
import { codeOf, isTransient, kafkaError } from './failure.ts';
import type { GroupTrouble } from './group-trouble.ts';
import { pauseMs } from './retry.ts';

/** Heartbeat interval, and so the longest delay of a new assignment. */
const heartbeatMs = 500;
/** How long members have to rejoin when the group changes. */
const rebalanceTimeoutMs = 15_000;
/** How long an unresponsive broker may delay the end of a member. */
const leaveTimeoutMs = 2_000;

interface GroupOptions {
  /** Kafka names, except `name`, the group's name at the port. */
  readonly name: string;
  readonly group: string;
  readonly topics: readonly string[];
  readonly partitions: number;
  /** As `JoinOptions`. */
  readonly hasPositions: boolean;
  /** The coordinator drops a member that is silent for this long. */
  readonly sessionTimeoutMs: number;
  readonly trouble: GroupTrouble;
  /** The connection for leaving: joining may block the member's own one. */
  readonly asideConnection: BrokerConnection;
}

/** The identity under which a member commits positions. */
export interface MemberIdentity {
  readonly memberId: string;
  readonly generation: number;
}

/** The coordinator no longer knows the member: its partitions were reassigned. */
const isForgotten = (error: unknown): boolean => codeOf(error) === kafkaError.unknownMember;

const mustJoinAgain = (error: unknown): boolean =>
  codeOf(error) === kafkaError.rebalanceInProgress ||
  codeOf(error) === kafkaError.illegalGeneration;

/**
 * A member of a consumer group that only assigns partition numbers; the holder reads them. Work continues while the
 * group rebalances, until the new assignment is known.
 */
export class KafkaMembership implements Membership {
  readonly group: string;
  readonly #options: GroupOptions;
  readonly #connection: BrokerConnection;
  readonly #assignedPartitions: AssignedPartitions;
  readonly #stop = new AbortController();
  readonly #joined = Promise.withResolvers<undefined>();
  readonly #running: Promise<void>;
  #memberId = '';
  #generation = -1;
  #mustJoin = true;
  #failures = 0;
  #leaving: Promise<void> | null = null;

  constructor(options: GroupOptions, connection: BrokerConnection, handler: GroupHandler) {
    this.group = options.name;
    this.#options = options;
    this.#connection = connection;
    this.#assignedPartitions = new AssignedPartitions(handler, () => (this.#mustJoin = true));
    this.#running = this.#run();
  }

  /** Resolves when the first assignment is known. */
  ready(): Promise<undefined> {
    return this.#joined.promise;
  }

  /** Null while the coordinator knows no such member. */
  get identity(): MemberIdentity | null {
    const memberId = this.#memberId;
    const generation = this.#generation;
    return memberId === '' || this.#leaving !== null ? null : { memberId, generation };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    this.#stop.abort();
    await this.#assignedPartitions.revokeAll();
    this.#connection[Symbol.dispose]();
    await this.#running;
    const memberId = this.#memberId;
    const options = this.#options;
    const { group, hasPositions, asideConnection, trouble } = options;
    trouble.left(this.group);
    if (memberId === '') return;
    const leaving = asideConnection.atCoordinator(coordinatorKind.group, group, async (broker) => {
      await broker.leaveGroup({ groupId: group, memberId });
      // Refused while others are members. After a crash the broker removes the empty group itself.
      if (!hasPositions) await broker.deleteGroups([group]);
    });
    // Without it the others wait until the session has expired.
    const ended = leaving.catch(() => undefined);
    await Promise.race([ended, sleep(leaveTimeoutMs, undefined, { ref: false })]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (this.#mustJoin) await this.#join();
        await this.#rest(heartbeatMs);
        await this.#heartbeat();
        this.#failures = 0;
        this.#options.trouble.works(this.group);
      } catch (error) {
        await this.#failed(error);
      }
    }
  }

  async #failed(error: unknown): Promise<void> {
    if (mustJoinAgain(error)) this.#mustJoin = true;
    else if (isForgotten(error)) {
      this.#memberId = '';
      this.#mustJoin = true;
      await this.#assignedPartitions.revokeAll();
    } else if (!this.#stop.signal.aborted) {
      this.#failures++;
      this.#options.trouble.failed(this.group, error);
      if (!isTransient(error)) this.#joined.reject(error);
      await this.#rest(pauseMs(this.#failures));
    }
  }

  async #join(): Promise<void> {
    const { group, topics, sessionTimeoutMs } = this.#options;
    this.#mustJoin = false;
    try {
      const metadata = encodeClaim({
        topics,
        held: this.#assignedPartitions.held,
        generation: this.#generation,
      });
      const answer = await this.#connection.atCoordinator(coordinatorKind.group, group, (broker) =>
        broker.joinGroup({
          groupId: group,
          sessionTimeout: sessionTimeoutMs,
          rebalanceTimeout: rebalanceTimeoutMs,
          memberId: this.#memberId,
          groupProtocols: [{ name: protocolName, metadata }],
        }),
      );
      this.#memberId = answer.memberId;
      await this.#sync(answer);
    } catch (error) {
      this.#mustJoin = true;
      throw error;
    }
  }

  async #sync(answer: JoinAnswer): Promise<void> {
    const { group, topics, partitions } = this.#options;
    const { generationId, memberId } = answer;
    const isLeader = answer.leaderId === memberId;
    const assignments = isLeader ? assign(answer.members, partitions) : new Map<string, number[]>();
    const { memberAssignment } = await this.#connection.atCoordinator(
      coordinatorKind.group,
      group,
      (broker) =>
        broker.syncGroup({
          groupId: group,
          generationId,
          memberId,
          groupAssignment: [...assignments].map(([id, numbers]) => ({
            memberId: id,
            memberAssignment: encodeAssignment(topics, numbers),
          })),
        }),
    );
    this.#generation = generationId;
    this.#assignedPartitions.assigned(decodeAssignment(memberAssignment), generationId);
    this.#joined.resolve(undefined);
  }

  async #heartbeat(): Promise<void> {
    const { group } = this.#options;
    if (this.#stop.signal.aborted || this.#mustJoin) return;
    const memberId = this.#memberId;
    const generation = this.#generation;
    await this.#connection.atCoordinator(coordinatorKind.group, group, (broker) =>
      broker.heartbeat({ groupId: group, groupGenerationId: generation, memberId }),
    );
  }

  /** Ends early when the group must be informed. */
  async #rest(ms: number): Promise<void> {
    const wait = Promise.race([
      sleep(ms, undefined, { signal: this.#stop.signal }),
      this.#assignedPartitions.changed(),
    ]);
    await wait.catch(() => undefined); // stopped
  }
}

/** How long a member may take to release a partition (ports/event-log.ts). */
const releaseTimeoutMs = 10_000;

/** The partition numbers of a member; calls its handler sequentially. */
class AssignedPartitions {
  readonly #handler: GroupHandler;
  readonly #onReleased: () => void;
  readonly #holding = new Set<number>();
  readonly #releasing = new Set<number>();
  #calls: Promise<void> = Promise.resolve();
  #change = Promise.withResolvers<undefined>();

  /** `onReleased` is called when work has ended on numbers that other members may then have. */
  constructor(handler: GroupHandler, onReleased: () => void) {
    this.#handler = handler;
    this.#onReleased = onReleased;
  }

  /** Numbers that no other member may process. */
  get held(): number[] {
    return [...this.#holding, ...this.#releasing].sort((a, b) => a - b);
  }

  /** Resolves when work on some numbers has ended. */
  changed(): Promise<undefined> {
    return this.#change.promise;
  }

  /** The whole assignment; a number that is being released is assigned again later. */
  assigned(numbers: readonly number[], generation: number): void {
    const lost = [...this.#holding].filter((number) => !numbers.includes(number));
    const gained = numbers.filter(
      (number) => !this.#holding.has(number) && !this.#releasing.has(number),
    );
    if (lost.length > 0) void this.#release(lost).then(() => this.#released());
    if (gained.length === 0) return;
    for (const number of gained) this.#holding.add(number);
    this.#calls = this.#calls.then(() => this.#handler.assigned(gained, generation));
  }

  /** All numbers are lost. Resolves when the work has ended, or after 10 s. */
  async revokeAll(): Promise<void> {
    if (this.#holding.size > 0) await this.#release([...this.#holding]);
    else await Promise.race([this.#calls, sleep(releaseTimeoutMs, undefined, { ref: false })]);
  }

  async #release(numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      this.#holding.delete(number);
      this.#releasing.add(number);
    }
    this.#calls = this.#calls.then(() => this.#handler.revoked(numbers));
    await Promise.race([this.#calls, sleep(releaseTimeoutMs, undefined, { ref: false })]);
    for (const number of numbers) this.#releasing.delete(number);
  }

  #released(): void {
    this.#onReleased();
    this.#change.resolve(undefined);
    this.#change = Promise.withResolvers();
  }
}

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;

/** The name of our assignment rules in the group protocol. */
const protocolName = 'svc-sticky';
const version = 1;

/** A member's metadata for the leader when it joins. */
interface Claim {
  readonly topics: readonly string[];
  /** The numbers that it holds, including those being released. */
  readonly held: readonly number[];
  /** Generation of the assignment that gave it these numbers. */
  readonly generation: number;
}

export const encodeClaim = ({ topics, held, generation }: Claim): Buffer =>
  MemberMetadata.encode({
    version,
    topics: [...topics],
    userData: Buffer.from(JSON.stringify({ held, generation })),
  });

function decodeClaim(bytes: Buffer): Claim {
  const metadata = MemberMetadata.decode(bytes);
  const text = metadata?.userData.toString() ?? '';
  const { held = [], generation = 0 } = (text === '' ? {} : JSON.parse(text)) as Partial<Claim>;
  return { topics: metadata?.topics ?? [], held, generation };
}

interface Member {
  readonly memberId: string;
  readonly memberMetadata: Buffer;
}

/**
 * The numbers of each member, by its id. A number moves to another member only when it is unheld: a member with too
 * many is first assigned fewer, and rejoins when it has released the others.
 */
export function assign(members: readonly Member[], partitions: number): Map<string, number[]> {
  const holders = new Array<string | null>(partitions).fill(null);
  const claims = members.map(({ memberId, memberMetadata }) => ({
    memberId,
    ...decodeClaim(memberMetadata),
  }));
  // Of two members that claim a number, the one of the older generation has not noticed yet that it lost it.
  for (const { memberId, held } of claims.sort((a, b) => a.generation - b.generation)) {
    for (const number of held) if (number < partitions) holders[number] = memberId;
  }
  const ids = members.map(({ memberId }) => memberId).sort();
  const assignments = new Map<string, number[]>(ids.map((id) => [id, []]));
  assignSticky(holders, ids).forEach((member, number) => {
    const holder = holders[number] ?? null;
    if (member !== null && (holder === null || holder === member))
      assignments.get(member)?.push(number);
  });
  return assignments;
}

export const encodeAssignment = (topics: readonly string[], numbers: readonly number[]): Buffer =>
  MemberAssignment.encode({
    version,
    assignment: Object.fromEntries(topics.map((topic) => [topic, [...numbers]])),
    userData: Buffer.alloc(0),
  });

/** The numbers are the same for every topic. */
export function decodeAssignment(bytes: Buffer): number[] {
  const { assignment = {} } = MemberAssignment.decode(bytes) ?? {};
  return [...(Object.values(assignment)[0] ?? [])].sort((a, b) => a - b);
}
