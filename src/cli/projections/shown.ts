import type { ApiClient } from '../client.ts';

/** The used fields of the API's response for a projection (src/modules/operations/projections/presenter.ts). */
export interface ShownProjection {
  readonly name: string;
  readonly topic: string;
  readonly active_generation: number;
  readonly schema_version: number;
  readonly latest_schema_version: number;
  readonly generations: readonly ShownGeneration[];
}

export interface ShownGeneration {
  readonly generation: number;
  readonly state: string;
  readonly is_paused: boolean;
  readonly schema_version: number;
  readonly rows: number;
  readonly bytes: number;
  readonly position: number;
  readonly end: number;
  readonly lag: number;
  readonly progress: number;
  readonly failure: string | null;
  readonly verification: ShownVerification | null;
}

export interface ShownVerification {
  readonly id: string;
  readonly state: 'running' | 'passed' | 'differs' | 'failed';
  readonly failure: string | null;
  readonly streams: number;
  readonly expected_rows: number;
  readonly found_rows: number;
  readonly differences: number;
  readonly examples: readonly {
    readonly table: string;
    readonly partition: number;
    readonly stream: string;
    readonly expected_rows: number;
    readonly found_rows: number;
  }[];
}

const pathOf = (name: string): string => `/projections/${encodeURIComponent(name)}`;

/** @throws ApiError */
export async function listProjections(client: ApiClient): Promise<ShownProjection[]> {
  const answer = await client.call('GET', '/projections');
  // The API guarantees the shape.
  return (answer as unknown as { data: ShownProjection[] }).data;
}

/** @throws ApiError */
export async function findProjection(client: ApiClient, name: string): Promise<ShownProjection> {
  return shown(await client.call('GET', pathOf(name)));
}

/** @throws ApiError */
export async function orderProjection(
  client: ApiClient,
  name: string,
  order: string,
  body?: Record<string, boolean | number>,
): Promise<ShownProjection> {
  return shown(await client.call('POST', `${pathOf(name)}/${order}`, body));
}

/** @throws ApiError */
export async function dropGeneration(
  client: ApiClient,
  name: string,
  generation: string,
): Promise<ShownProjection> {
  const path = `${pathOf(name)}/generations/${encodeURIComponent(generation)}`;
  return shown(await client.call('DELETE', path));
}

const shown = (answer: unknown): ShownProjection => (answer as { data: ShownProjection }).data;

/** The generation besides the active one, if there is one. */
export const besideOf = (projection: ShownProjection): ShownGeneration | undefined =>
  projection.generations.find(({ generation }) => generation !== projection.active_generation);
