import { randomUUID } from 'node:crypto';
import { A, changing, row, type Row } from './row.ts';

const ofEnvironment = ({ environmentId }: { readonly environmentId: number }) => ({
  path: `/environments/${environmentId}`,
});

const exportKey = {
  kty: 'OKP',
  crv: 'X25519',
  x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo',
};

const environmentRows: readonly Row[] = [
  row('GET /environments', A('environments:list'), 200),
  row('POST /environments', A('environments:create'), 409, () => ({ body: { name: 'dev' } })),
  row('GET /environments/{environmentId}', A('environments:read'), 200, ofEnvironment),
  row('PATCH /environments/{environmentId}', A('environments:update'), 200, (names) => ({
    ...ofEnvironment(names),
    body: { payload_mode: 'plain' },
  })),
  row('GET /environments/{environmentId}/retention', A('environments:read'), 200, (names) => ({
    path: `${ofEnvironment(names).path}/retention`,
  })),
  row('POST /environments/{environmentId}/exports', A('environments:export'), 201, (names) => ({
    path: `${ofEnvironment(names).path}/exports`,
    body: { public_key: exportKey },
  })),
  changing('DELETE /environments/{environmentId}', A('environments:delete'), 404, ofEnvironment),
];

const keyRows: readonly Row[] = [
  row('GET /environment/api-keys', A('environments:api_keys:list'), 200, ({ environmentId }) => ({
    path: `/environment/api-keys?environment_id=${environmentId}`,
  })),
  row('POST /environment/api-keys', A('environments:api_keys:create'), 409, (names) => ({
    body: { environment_id: names.environmentId, display_name: 'Default - Full access' },
  })),
  row('POST /environment/api-keys/{id}/reveal', A('environments:api_keys:reveal'), 404, () => ({
    path: `/environment/api-keys/${randomUUID()}/reveal`,
  })),
  row('POST /environment/api-keys/{id}/rotate', A('environments:api_keys:rotate'), 404, () => ({
    path: `/environment/api-keys/${randomUUID()}/rotate`,
    body: {},
  })),
  row(
    'DELETE /environment/api-keys/{id}/previous-secret',
    A('environments:api_keys:rotate'),
    404,
    () => ({ path: `/environment/api-keys/${randomUUID()}/previous-secret` }),
  ),
  row('DELETE /environment/api-keys', A('environments:api_keys:delete'), 404, (names) => ({
    body: { environment_id: names.environmentId, key_id: randomUUID() },
  })),
  row('GET /account/api-keys', A('api_keys:list'), 200),
  row('POST /account/api-keys', A('api_keys:create'), 400, () => ({ body: {} })),
  row('POST /account/api-keys/{id}/rotate', A('api_keys:rotate'), 404, () => ({
    path: `/account/api-keys/${randomUUID()}/rotate`,
    body: {},
  })),
  row('DELETE /account/api-keys/{id}/previous-secret', A('api_keys:rotate'), 404, () => ({
    path: `/account/api-keys/${randomUUID()}/previous-secret`,
  })),
  row('DELETE /account/api-keys', A('api_keys:delete'), 404, () => ({
    body: { key_id: randomUUID() },
  })),
];

const personRows: readonly Row[] = [
  row('GET /people', A('people:read'), 200),
  row('POST /people', A('people:write'), 400, () => ({ body: {} })),
  row('PATCH /people/{id}', A('people:write'), 404, () => ({
    path: `/people/${randomUUID()}`,
    body: {},
  })),
  row('POST /people/{id}/sign-in-links', A('people:write'), 404, () => ({
    path: `/people/${randomUUID()}/sign-in-links`,
  })),
  row('DELETE /people/{id}/sessions', A('people:write'), 404, () => ({
    path: `/people/${randomUUID()}/sessions`,
  })),
  row('GET /account/sessions', A('people:read'), 200),
  row('DELETE /account/sessions/{id}', A('people:write'), 404, () => ({
    path: `/account/sessions/${randomUUID()}`,
  })),
];

const projection = (rest = '') => ({ path: `/projections/none${rest}`, body: {} });

/** For operators. */
const operatorRows: readonly Row[] = [
  row('GET /projections', A('projections:read'), 200),
  row('GET /projections/{name}', A('projections:read'), 404, () => ({ path: '/projections/none' })),
  ...['rebuild', 'switch', 'pause', 'resume'].map((word) =>
    row(`POST /projections/{name}/${word}`, A('projections:write'), 404, () =>
      projection(`/${word}`),
    ),
  ),
  ...['verify', 'rollback'].map((word) =>
    row(`POST /projections/{name}/${word}`, A('projections:write'), 404, () => ({
      path: `/projections/none/${word}`,
    })),
  ),
  row('DELETE /projections/{name}/generations/{generation}', A('projections:write'), 404, () => ({
    path: '/projections/none/generations/1',
  })),
  row('GET /metrics', A('metrics:read'), 200),
  row('GET /audit', A('audit:read'), 200),
  row('GET /audit/chains', A('audit:read'), 200),
  // Without naming a chain.
  row('GET /audit/export', A('audit:read'), 400),
  row('GET /root-keys', A('root-keys:read'), 200),
  row('POST /root-keys/rewrap', A('root-keys:write'), 202),
  row('GET /consumer-groups', A('consumer-groups:read'), 200),
  row('GET /consumer-groups/{name}', A('consumer-groups:read'), 404, () => ({
    path: '/consumer-groups/none',
  })),
  row('POST /consumer-groups/{name}/reset', A('consumer-groups:write'), 404, () => ({
    path: '/consumer-groups/none/reset',
    body: { to: 'end', dry_run: true },
  })),
  row('GET /topics', A('topics:read'), 200),
  row('GET /topics/{name}', A('topics:read'), 200, () => ({ path: '/topics/svc.audit.v1' })),
  row('GET /topics/{name}/messages', A('topics:read_messages'), 200, () => ({
    path: '/topics/svc.audit.v1/messages?limit=1',
  })),
  row('GET /dead-letters', A('dead-letters:read'), 200),
  row('GET /dead-letters/{id}', A('dead-letters:read'), 404, () => ({
    path: `/dead-letters/${randomUUID()}`,
  })),
  row('POST /dead-letters/{id}/retry', A('dead-letters:write'), 404, () => ({
    path: `/dead-letters/${randomUUID()}/retry`,
  })),
  row('DELETE /dead-letters/{id}', A('dead-letters:write'), 404, () => ({
    path: `/dead-letters/${randomUUID()}`,
  })),
];

export const accountRows: readonly Row[] = [
  ...environmentRows,
  ...keyRows,
  ...personRows,
  ...operatorRows,
];
