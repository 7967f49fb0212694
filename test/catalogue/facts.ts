import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as parseYaml } from 'js-yaml';
import { z } from 'zod';
import type { PinnedVersion } from './pinned-versions.ts';

const folder = new URL('../../src/modules/connections/providers/catalogue-facts', import.meta.url)
  .pathname;
const dayMs = 86_400_000;
/** How long before a version ends the test fails. */
export const noticeDays = 60;

const day = z.iso.date();
const address = z.url({ protocol: /^https$/ });

const version = z.strictObject({
  version: z.string().min(1),
  /** Fields of the definition that name the version. */
  fields: z.array(z.string().min(1)).min(1),
  /** When the documentation was last read; null: not yet. */
  checked_at: day.nullable(),
  /** The last day for which the documentation promises the version; null: it names no end. */
  expires_at: day.nullable(),
  source: address,
  /** The entry that replaces this one: the version is due only when it has ended. */
  successor: z.string().min(1).optional(),
  note: z.string().min(1).optional(),
});

const decision = z
  .strictObject({
    field: z.string().min(1),
    /** `undocumented`: no documentation of it could be read; the entry has the safer value. */
    outcome: z.enum(['kept', 'changed', 'undocumented']),
    because: z.string().min(1),
    checked_at: day.nullable(),
    source: address,
  })
  .refine(
    ({ outcome, checked_at: at }) => (outcome === 'undocumented') === (at === null),
    'A decision is undocumented, or has the day on which its documentation was read.',
  );

const evidence = {
  /** Independent public sources that say it. */
  sources: z.number().int().min(1).optional(),
  /** Page of the provider's documentation that says it. */
  page: address.optional(),
  /** When it was read, where that is not `confirmed_at` of the entry. */
  read_at: day.optional(),
};
const hasEvidence = ({
  sources,
  page,
}: {
  sources?: number | undefined;
  page?: string | undefined;
}) => sources !== undefined || page !== undefined;
const noEvidence = 'Name the number of sources, or a page of the documentation.';

/** What says the same as a field of the entry. */
const confirmation = z
  .strictObject({
    /** The value of the field when it was confirmed; of `proxy.base_url` its host is what was confirmed. */
    value: z.string(),
    ...evidence,
  })
  .refine(hasEvidence, noEvidence);

/** `scope offline_access` or `param access_type=offline`. */
const refreshNeed = z.string().regex(/^(?:scope \S+|param [^\s=]+=\S+)$/);

/** What the provider's documentation says of its limit of requests. */
const rateLimitFact = z.strictObject({
  /** As `svc integrations update --rate-limit` takes it. */
  value: z.string().regex(/^\d+\/\d+(?:\/connection)?$/),
  /** What each has the limit, in the words of the page. */
  of: z.string().min(1),
  page: address,
  /** When the page was read, or what quotes it. */
  read_at: day,
  /** Public sources that quote the page, where its own text could not be read. */
  quoted_by: z.number().int().min(1).optional(),
});

const entryFacts = z.strictObject({
  rate_limit: rateLimitFact.optional(),
  confirmed_at: day.optional(),
  /** By dotted path in the definition. */
  confirmed: z.record(z.string().min(1), confirmation).optional(),
  versions: z.array(version).optional(),
  /** What the authorization address of the entry demands before it issues a refresh token; it holds for every entry with that address. */
  refresh_needs: z
    .record(refreshNeed, z.strictObject(evidence).refine(hasEvidence, noEvidence))
    .optional(),
  decisions: z.array(decision).optional(),
});

export type Confirmation = z.output<typeof confirmation>;
export type EntryFacts = z.output<typeof entryFacts>;
export type VersionFact = z.output<typeof version>;

/** By file (a category of the catalog), then by entry. */
export function readFacts(): ReadonlyMap<string, Readonly<Record<string, EntryFacts>>> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  return new Map(
    files.map((file) => {
      const parsed = parseYaml(readFileSync(join(folder, file), 'utf8'));
      return [file, z.record(z.string(), entryFacts).parse(parsed)];
    }),
  );
}

export interface VersionRow extends VersionFact {
  readonly entry: string;
}

export const versionRows = (facts: ReturnType<typeof readFacts>): VersionRow[] =>
  [...facts.values()].flatMap((entries) =>
    Object.entries(entries).flatMap(([entry, { versions = [] }]) =>
      versions.map((row) => ({ entry, ...row })),
    ),
  );

/** The first moment at which the version is due; null: it has no end. */
export function dueTime({ expires_at: end, successor }: VersionFact): number | null {
  if (end === null) return null;
  return Date.parse(end) + (successor === undefined ? -noticeDays : 1) * dayMs;
}

/** Versions that end within the notice, or have ended, at the time; the earliest end first. */
export function dueVersions(rows: readonly VersionRow[], now: number): VersionRow[] {
  return rows
    .filter((row) => {
      const time = dueTime(row);
      return time !== null && time <= now;
    })
    .sort((a, b) => String(a.expires_at).localeCompare(String(b.expires_at)));
}

/** `entry version field` of each pin without a row, and of each row without a pin. */
export function unmatchedVersions(
  pins: readonly PinnedVersion[],
  rows: readonly PinnedVersion[],
): { readonly withoutRow: string[]; readonly withoutPin: string[] } {
  const namesOf = (list: readonly PinnedVersion[]) =>
    new Set(
      list.flatMap(({ entry, version: one, fields }) =>
        fields.map((field) => `${entry} ${one} ${field}`),
      ),
    );
  const [pinned, listed] = [namesOf(pins), namesOf(rows)];
  return {
    withoutRow: [...pinned].filter((name) => !listed.has(name)),
    withoutPin: [...listed].filter((name) => !pinned.has(name)),
  };
}
