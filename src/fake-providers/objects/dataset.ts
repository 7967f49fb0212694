import { atPath, plainText } from '#kernel/json-path.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { withPath } from '../with-path.ts';
import { changeTimeOf, type ObjectFixture } from './fixture.ts';
import { timeLike } from './times.ts';

export interface Entry {
  readonly document: JsonObject;
  /** Of its last change, from 1. */
  readonly version: number;
  readonly isDeleted: boolean;
}

/** The documents of an object in an account of the fake. */
export class Dataset {
  readonly #fixture: Pick<ObjectFixture, 'id' | 'deletes' | 'lists' | 'documents'>;
  readonly #entries = new Map<string, Entry>();
  #version = 0;

  constructor(fixture: ObjectFixture) {
    this.#fixture = fixture;
    this.reset(fixture.documents);
  }

  get version(): number {
    return this.#version;
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()];
  }

  idOf(document: JsonObject): string {
    return plainText(atPath(document, this.#fixture.id) ?? null);
  }

  find(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  reset(documents: readonly JsonObject[]): void {
    this.#entries.clear();
    this.save(documents);
  }

  save(documents: readonly JsonObject[]): void {
    const version = this.#nextVersion();
    for (const document of documents)
      this.#entries.set(this.idOf(document), { document, version, isDeleted: false });
  }

  /** As `save`; the fields that lists filter by, or order by as the time of the change, get the present time. */
  change(documents: readonly JsonObject[]): readonly JsonObject[] {
    const now = systemClock.now();
    const stamped = documents.map((document) => this.#stamped(document, now));
    this.save(stamped);
    return stamped;
  }

  delete(ids: readonly (string | number)[]): void {
    const version = this.#nextVersion();
    const now = systemClock.now();
    for (const id of ids.map(String)) {
      const entry = this.#entries.get(id);
      if (entry === undefined) throw new Error(`"deleted" names ${id}, which is no document`);
      const document = this.#marked(this.#stamped(entry.document, now));
      this.#entries.set(id, { document, version, isDeleted: true });
    }
  }

  #stamped(document: JsonObject, now: number): JsonObject {
    const copy = structuredClone(document) as Record<string, Json>;
    for (const list of this.#fixture.lists) {
      const field = changeTimeOf(list);
      if (field === undefined) continue;
      const sample = atPath(this.#fixture.documents[0], field);
      withPath(copy, field, timeLike(sample, now));
    }
    return copy;
  }

  #marked(document: JsonObject): JsonObject {
    const { deletes } = this.#fixture;
    if (deletes.type !== 'marked') return document;
    const { only } = deletes;
    const kept = Object.entries(document).filter(([name]) => only?.includes(name) ?? true);
    const marked: Record<string, unknown> = Object.fromEntries(kept);
    for (const [path, value] of Object.entries(deletes.set)) withPath(marked, path, value);
    return marked as JsonObject;
  }

  #nextVersion(): number {
    this.#version += 1;
    return this.#version;
  }
}

/** The documents, and copies of them with ids of their own, until there are as many. */
export function filledUp(
  documents: readonly JsonObject[],
  idPath: string,
  count: number,
): readonly JsonObject[] {
  const rounds = Math.ceil(count / documents.length);
  const all = Array.from({ length: rounds }, (_, round) =>
    documents.map((document) => {
      if (round === 0) return document;
      const copy = structuredClone(document) as Record<string, unknown>;
      withPath(copy, idPath, copiedId(atPath(document, idPath) ?? null, round));
      return copy as JsonObject;
    }),
  );
  return all.flat().slice(0, Math.max(count, documents.length));
}

const copiedIdStep = 1_000_000;

function copiedId(id: unknown, round: number): string | number {
  if (typeof id === 'number') return id + round * copiedIdStep;
  const text = String(id);
  return /^\d{1,9}$/.test(text) ? String(Number(text) + round * copiedIdStep) : `${text}-${round}`;
}
