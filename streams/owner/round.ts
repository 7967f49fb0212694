import type {
  AnyEntityDefinition,
  EntityDefinitions,
  EntityKind,
  CommandBody,
  CommandRequest,
  DecisionMeta,
  EntityRef,
  EntityTypes,
  PublicMessage,
  Siblings,
} from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';
import type { ControlStateStore, EntityChange } from './state-store.ts';

interface KnownState {
  readonly scope: string;
  /** Null = gone. */
  readonly state: object | null;
}

/** The outcome of one command, or of one list of commands. */
export interface Decision {
  readonly changed: ReadonlyMap<string, KnownState>;
  readonly published: readonly { readonly message: PublicMessage; readonly meta: DecisionMeta }[];
  /** The state of the last command's entity. */
  readonly state: object | null;
  /** How many numeric ids were assigned. */
  readonly numbers: number;
}

/** Decisions that are committed together: each sees the ones before it. Nothing is written here. */
export class Round {
  readonly #store: ControlStateStore;
  readonly #definitions: EntityDefinitions;
  readonly #numberOf: (index: number) => number;
  readonly #accepted = new Map<string, KnownState>();
  numbers: number;

  /** `numberOf` makes the nth number of this partition unique across all partitions. */
  constructor(
    store: ControlStateStore,
    definitions: EntityDefinitions,
    numbers: { readonly supplied: number; numberOf(input: number): number },
  ) {
    this.#store = store;
    this.#definitions = definitions;
    this.numbers = numbers.supplied;
    this.#numberOf = (supplied) => numbers.numberOf(supplied);
  }

  /**
   * Decides the commands in order, each with what follows from it, without accepting the outcome.
   * @throws GatewayError the first refusal
   */
  decide(
    items: readonly { readonly ref: EntityRef; readonly body: CommandBody }[],
    meta: Omit<DecisionMeta, 'ref'>,
  ): Decision {
    const changed = new Map<string, KnownState>();
    const published: { message: PublicMessage; meta: DecisionMeta }[] = [];
    let numbers = 0;
    const undecided: { readonly ref: EntityRef; readonly body: CommandBody }[] = [...items];
    for (let item = undecided.shift(); item !== undefined; item = undecided.shift()) {
      const { ref, body } = item;
      const definition = this.#definitionOf(ref.kind);
      const key = joinKey(ref.kind, ...ref.path);
      const before = this.#stateOf(key, changed);
      const isFresh = before === null && definition.isNumbered === true;
      const command = {
        ...body,
        ...definition.facts?.(body, ref, this.#siblings(ref.scope, changed)),
        ...(isFresh ? { numericId: this.#numberOf(this.numbers + numbers) } : {}),
        at: meta.at,
      };
      const entity = { ...meta, ref };
      const followers: CommandRequest[] = [];
      let state = before;
      for (const event of definition.decider.decide(command, before) as { type: string }[]) {
        const after = definition.decider.evolve(state, event) as object | null;
        const messages = definition.publish(event, state, after, entity);
        published.push(...messages.map((message) => ({ message, meta: entity })));
        followers.push(...(definition.follow?.(event, state, after, ref) ?? []));
        state = after;
        changed.set(key, { scope: ref.scope, state });
      }
      if (isFresh && state !== null) numbers += 1;
      undecided.unshift(...followers);
    }
    const last = items.at(-1)?.ref;
    const state =
      last === undefined ? null : this.#stateOf(joinKey(last.kind, ...last.path), changed);
    return { changed, published, state, numbers };
  }

  accept(decision: Decision): void {
    for (const [key, existing] of decision.changed) this.#accepted.set(key, existing);
    this.numbers += decision.numbers;
  }

  /** Sets a note of the owner itself. */
  putNote(key: string, scope: string, state: object | null): void {
    this.#accepted.set(key, { scope, state });
  }

  keptAnswer(key: string): KeptAnswer | null {
    return this.#stateOf(key, new Map()) as KeptAnswer | null;
  }

  /** The changes of the accepted decisions, with the next due time of each. */
  *changes(): Generator<EntityChange & { readonly kind: string }> {
    for (const [key, { scope, state }] of this.#accepted) {
      const kind = key.slice(0, key.includes('/') ? key.indexOf('/') : undefined);
      const text = state === null ? null : JSON.stringify(state);
      yield { key, kind, scope, state: text, due: dueOf(this.#definitions, kind, state) };
    }
  }

  #definitionOf(kind: string): AnyEntityDefinition {
    const definition = (this.#definitions as Partial<EntityDefinitions>)[kind];
    if (definition !== undefined) return definition;
    throw new GatewayError('server_error', { message: `No owner decides the kind "${kind}".` });
  }

  #stateOf(key: string, changed: ReadonlyMap<string, KnownState>): object | null {
    const existing = changed.get(key) ?? this.#accepted.get(key);
    if (existing !== undefined) return existing.state;
    const stored = this.#store.get(key);
    return stored === null ? null : (JSON.parse(stored.state) as object);
  }

  #siblings(scope: string, changed: ReadonlyMap<string, KnownState>): Siblings {
    return {
      find: ({ kind, path }) => this.#stateOf(joinKey(kind, ...path), changed),
      list: <E extends EntityTypes>({ kind }: EntityKind<E>, prefix: readonly string[]) => {
        const found = new Map<string, object | null>();
        for (const { key, state } of this.#store.below(kind, prefix, scope)) {
          found.set(key, JSON.parse(state) as object);
        }
        const start = `${joinKey(kind, ...prefix)}/`;
        for (const layer of [this.#accepted, changed]) {
          for (const [key, existing] of layer) {
            if (existing.scope === scope && key.startsWith(start)) found.set(key, existing.state);
          }
        }
        const keys = [...found.keys()].sort();
        return keys.map((key) => found.get(key)).filter((state) => state !== null) as E['state'][];
      },
    };
  }
}

/** How long the first reply to an Idempotency-Key is kept; also in its note. */
export interface KeptAnswer {
  readonly requestHash: string;
  readonly outcome: 'done' | 'refused';
  /** Of a refusal, in the form of `GatewayError.toJSON`. */
  readonly error: ReturnType<GatewayError['toJSON']> | null;
  readonly state: object | null;
  readonly until: Instant;
}

/** When the owner must process an entity or a note of its own; null = never. */
export function dueOf(
  definitions: EntityDefinitions,
  kind: string,
  state: object | null,
): Instant | null {
  if (state === null) return null;
  if (kind === '~answer') return (state as KeptAnswer).until;
  const definition = (definitions as Partial<Record<string, AnyEntityDefinition>>)[kind];
  return definition?.dueAt?.(state) ?? null;
}
