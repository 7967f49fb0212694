import type { Provider } from '#modules/connections/providers/definition.ts';
import type { TestedGateway } from './gateway.ts';
import { playEntry, type EntryOutcome, type Paginate } from './play-entry.ts';
import type { PlayedProvider } from './play.ts';
import type { EntryReport } from './report.ts';
import type { FakeAuth } from './server.ts';

/** Entries at the same time: most of a rate limit is waiting. */
const parallelEntries = 48;
/** Of an integration whose entry has no scopes of its own. */
const triedScopes = ['read', 'write'];

export interface Cast {
  readonly definition: Provider;
  /** Null where the fake cannot play it, with the reason. */
  readonly played: PlayedProvider | null;
  readonly problem: string;
}

/** Lets the fake play the definitions. What it cannot play is kept with the reason. */
export function castAll(fake: FakeAuth, definitions: Iterable<Provider>): Cast[] {
  return [...definitions].map((definition) => {
    const { default_scopes: scopes = triedScopes } = definition;
    try {
      const played = fake.play(definition, { installsApp: true, scopes });
      return { definition, played, problem: '' };
    } catch (error) {
      return { definition, played: null, problem: (error as Error).message };
    }
  });
}

/** Leads every entry through all steps. */
export async function playAll(
  gateway: TestedGateway,
  casts: readonly Cast[],
  paginate: Paginate,
): Promise<EntryReport[]> {
  const reports: EntryReport[] = [];
  const waiting = casts.entries();
  const work = async () => {
    for (const [at, { definition, played, problem }] of waiting) {
      const outcome =
        played === null ? unplayable(problem) : await playEntry(gateway, played, paginate);
      reports[at] = { definition, outcome };
    }
  };
  await Promise.all(Array.from({ length: parallelEntries }, work));
  return reports;
}

const unplayable = (problem: string): EntryOutcome => ({
  connect: { problem },
  verify: 'skipped',
  call: 'skipped',
  refresh: 'skipped',
  paginate: 'skipped',
  limit: 'skipped',
  disconnect: 'skipped',
});
