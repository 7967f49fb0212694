import type { Clock } from '#kernel/time.ts';

export interface DemoContact {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly company: string;
  /** ISO 8601. */
  readonly updated_at: string;
}

const count = 250;
const firstNames = ['Ada', 'Bea', 'Cem', 'Dina', 'Elif', 'Finn', 'Greta', 'Hugo', 'Ines', 'Jan'];
const lastNames = ['Adler', 'Brandt', 'Costa', 'Duval', 'Endo', 'Faber', 'Gomez', 'Hansen'];
const companies = ['Northwind Mills', 'Blue Harbor', 'Oak & Iron', 'Sunline', 'Paper Crane'];
const firstChange = Date.UTC(2026, 0, 1);

const pick = (list: readonly string[], at: number): string => list[at % list.length] ?? '';

function contactAt(at: number): DemoContact {
  const first = pick(firstNames, at);
  const last = pick(lastNames, Math.floor(at / firstNames.length));
  const number = String(at + 1).padStart(3, '0');
  return {
    id: `contact-${number}`,
    name: `${first} ${last}`,
    email: `${first}.${last}.${number}@example.com`.toLowerCase(),
    company: pick(companies, at * 7),
    updated_at: new Date(firstChange + at * 60_000).toISOString(),
  };
}

/** The same contacts at each start; changes are in memory and end with the process. */
export class DemoContacts {
  readonly #byId = new Map(
    Array.from({ length: count }, (_, at) => contactAt(at)).map((one) => [one.id, one] as const),
  );
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** In the order of their ids. @param after id of the last contact of the page before; null = the first page */
  page(after: string | null, limit: number): { data: readonly DemoContact[]; next: string | null } {
    const rest = [...this.#byId.values()].filter(({ id }) => after === null || id > after);
    const data = rest.slice(0, limit);
    return { data, next: rest.length > limit ? (data.at(-1)?.id ?? null) : null };
  }

  find(id: string): DemoContact | null {
    return this.#byId.get(id) ?? null;
  }

  rename(contact: DemoContact, name: string): DemoContact {
    const renamed = { ...contact, name, updated_at: new Date(this.#clock.now()).toISOString() };
    this.#byId.set(contact.id, renamed);
    return renamed;
  }

  delete({ id }: DemoContact): void {
    this.#byId.delete(id);
  }
}
