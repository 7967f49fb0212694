import type { JsonObject } from '#kernel/stable-json.ts';
import type { Postgres } from '#test/services/postgres.ts';
import { differencesOf } from './differences.ts';
import { registryUrl, type RecipeWorld } from './world.ts';

export interface Row extends JsonObject {
  /** Id of the connection. */
  readonly connection: string;
  readonly id: string;
}

/** What the recipes of `deploy/connect` read from the environment of the worker. */
export const connectorEnv = ({ registry }: RecipeWorld, postgres: Postgres) => ({
  REGISTRY_URL: registryUrl(registry),
  DATABASE_URL: `jdbc:postgresql://127.0.0.1:${postgres.port}/postgres`,
  DATABASE_USER: postgres.user,
  DATABASE_PASSWORD: postgres.password,
});

/** The rows that a statement over the table `crm_contact` finds; none while there is no table. */
export async function rowsOf(postgres: Postgres, statement: string): Promise<Row[]> {
  const exists = `SELECT to_regclass('crm_contact') IS NOT NULL AS exists`;
  const [found] = await postgres.query<{ exists: boolean }>(exists);
  return found?.exists === true ? postgres.query<Row>(statement) : [];
}

/** The rows beside the records, which keep only what has a column. */
export const differencesOfTable = (
  records: ReadonlyMap<string, JsonObject>,
  rows: readonly Row[],
  columnsOf: (record: JsonObject) => JsonObject,
): string[] =>
  differencesOf(
    new Map([...records].map(([key, record]) => [key, columnsOf(record)])),
    rows.map(({ connection, ...row }) => ({ connection, id: row.id, record: row as JsonObject })),
  );
