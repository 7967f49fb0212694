import kafkajs from 'kafkajs';
import { assignSticky } from '../sticky-assignment.ts';

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;

/** The name of our assignment rules in the group protocol. */
export const protocolName = 'svc-sticky';
const version = 1;

/** A member's metadata for the leader when it joins. */
export interface Claim {
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

export interface Member {
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
