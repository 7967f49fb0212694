import { useRead } from '../../data/read.ts';
import type { Choice } from '../../design/field.tsx';

/** The endpoints of the environment by id, each with its name, or its address where it has none. */
export function useEndpointNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /webhook-endpoints', {});
  return new Map(
    data?.data.map(({ id, url, display_name: name }) => [id, name === '' ? url : name]),
  );
}

export const endpointChoices = (names: ReadonlyMap<string, string>): readonly Choice[] =>
  [...names].map(([value, label]) => ({ value, label }));
